// Command clock is packgate at another time: its clock is ahead by the duration AHEAD of the
// environment. By it the end-to-end tests see what becomes of signed statements that age, which
// the services that sign them cannot be made to have signed earlier.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/contextosai/packgate/internal/cli"
)

func main() {
	env := cli.SystemEnv("")
	ahead, err := time.ParseDuration(os.Getenv("AHEAD"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "AHEAD:", err)
		os.Exit(2)
	}
	now := env.Now
	env.Now = func() time.Time { return now().Add(ahead) }
	os.Exit(cli.Main(context.Background(), env))
}
