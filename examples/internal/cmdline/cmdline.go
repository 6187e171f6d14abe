// Package cmdline parses the command line of an example.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var errArgument = errors.New("unexpected argument")

// Parse parses the flags that the program has declared. With -h it prints about, which describes the program, and the
// flags, and exits. It also exits if a flag is invalid, or if there are other arguments: no example takes any.
func Parse(about string) {
	if err := parse(flag.CommandLine, about, os.Args[1:]); err != nil {
		os.Exit(2)
	}
}

// parse prints a message before it returns an error.
func parse(flags *flag.FlagSet, about string, args []string) error {
	name := strings.TrimSuffix(filepath.Base(flags.Name()), ".exe")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "%s\n\nUsage: %s [flags]\n", strings.TrimSpace(about), name)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return nil
	}
	fmt.Fprintf(flags.Output(), "%s: unexpected argument %q; there are only flags\n\n", name, flags.Arg(0))
	flags.Usage()
	return errArgument
}
