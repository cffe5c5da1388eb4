package repository_test

import (
	"testing"

	"github.com/contextosai/packgate/test/program"
)

func TestMain(m *testing.M) { program.Main(m) }
