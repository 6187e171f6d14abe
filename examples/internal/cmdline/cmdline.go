// Package cmdline reads the command line of an example.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

var errArgument = errors.New("an argument that is no flag")

// Parse reads the flags that were declared. It ends the program where they are wrong,
// and where something else is there: no example takes arguments.
func Parse() {
	if err := parse(flag.CommandLine, os.Args[1:]); err != nil {
		os.Exit(2)
	}
}

// parse says what is wrong before it returns an error.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return nil
	}
	fmt.Fprintf(flags.Output(), "%s: takes no arguments but flags, and was given %q\n", flags.Name(), flags.Arg(0))
	flags.Usage()
	return errArgument
}
