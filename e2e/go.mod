module github.com/contextosai/packgate/e2e

go 1.26.0

replace github.com/contextosai/packgate => ../

require (
	github.com/contextosai/packgate v0.0.0-00010101000000-000000000000
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/goccy/go-yaml v1.19.2
)

require (
	github.com/Masterminds/semver/v3 v3.5.0 // indirect
	github.com/gowebpki/jcs v1.0.2 // indirect
)
