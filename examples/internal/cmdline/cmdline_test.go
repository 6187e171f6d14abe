package cmdline

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestParseAcceptsOnlyFlags(t *testing.T) {
	for _, c := range []struct {
		args  string
		want  error
		print string // part of the output; "" if nothing is printed
	}{
		{"", nil, ""},
		{"-level WARN", nil, ""},
		{"--", nil, ""},
		{"WARN", errArgument, `unexpected argument "WARN"`},
		{"-level WARN more", errArgument, `"more"`},
		{"-- -level", errArgument, `"-level"`},
		{"-h", flag.ErrHelp, "logs finds errors.\n\nUsage: logs [flags]\n  -level level"},
	} {
		var out bytes.Buffer
		flags := flag.NewFlagSet("logs", flag.ContinueOnError)
		flags.SetOutput(&out)
		flags.String("level", "ERROR", "of this `level`")
		if err := parse(flags, "logs finds errors.", strings.Fields(c.args)); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.args, err, c.want)
		}
		if got := out.String(); !strings.Contains(got, c.print) || (c.print == "") != (got == "") {
			t.Errorf("%q prints %q", c.args, got)
		}
	}
}
