package wideentity_test

import (
	"flag"
	"os"
	"testing"
)

// Properties of megabytes take their time: fewer checks than rapid makes by itself,
// unless the command line says how many.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25")
	os.Exit(m.Run())
}
