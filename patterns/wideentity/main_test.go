package wideentity_test

import (
	"flag"
	"os"
	"testing"
)

// Tests with properties of megabytes are slow, so rapid makes fewer checks than by default.
// The command line can select another number.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25")
	os.Exit(m.Run())
}
