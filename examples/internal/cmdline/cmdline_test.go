package cmdline

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestOnlyFlagsAreTaken(t *testing.T) {
	for _, c := range []struct {
		args string
		want error
		says string // "" for nothing
	}{
		{"", nil, ""},
		{"-level WARN", nil, ""},
		{"--", nil, ""},
		{"WARN", errArgument, `takes no arguments but flags, and was given "WARN"`},
		{"-level WARN more", errArgument, `"more"`},
		{"-- -level", errArgument, `"-level"`},
		{"-h", flag.ErrHelp, "-level"},
	} {
		var out bytes.Buffer
		flags := flag.NewFlagSet("logs", flag.ContinueOnError)
		flags.SetOutput(&out)
		flags.String("level", "ERROR", "of this `level`")
		if err := parse(flags, strings.Fields(c.args)); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.args, err, c.want)
		}
		if got := out.String(); !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%q says %q", c.args, got)
		}
	}
}
