package tablectl

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// The exit codes.
const (
	exitDone    = 0
	exitFound   = 1 // differences, findings, or rows that were refused
	exitUsage   = 2 // nothing was done: the command line is wrong, or the filter is refused
	exitFailure = 3 // a moving command can be started again to continue
)

// usageError ends the program with exitUsage.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// command is a subcommand.
type command struct {
	name, args, about string
	min, max          int // number of arguments
	account           bool

	// setup declares the flags and returns what the command does.
	setup func(c *cli) action
}

type action func(ctx context.Context, args []string) error

const many = math.MaxInt

func commands() []command {
	return []command{
		{"export", "TABLE FILE", "write the rows of a table as JSON lines; - is the standard output", 2, 2, true, moveCommand("FILE.state")},
		{"import", "FILE TABLE", "write the rows of JSON lines to a table; - is the standard input", 2, 2, true, moveCommand("FILE.state")},
		{"copy", "TABLE TABLE", "copy the rows of a table to another one", 2, 2, true, moveCommand("none")},
		{"diff", "TABLE|FILE TABLE|FILE", "compare two tables, two files, or a table and a file", 2, 2, true, diffCommand},
		{"count", "TABLE", "count the rows of a table", 1, 1, true, countCommand},
		{"query", "TABLE", "print rows, and how the filter is executed", 1, 1, true, queryCommand},
		{"get", "TABLE PARTITIONKEY ROWKEY", "print a row", 3, 3, true, getCommand},
		{"put", "TABLE ROW", "write a row, which is JSON as export writes it; - is the standard input", 2, 2, true, putCommand},
		{"rm", "TABLE [PARTITIONKEY ROWKEY]", "delete a row, or with -where and -yes many", 1, 3, true, rmCommand},
		{"tables", "list|create|drop [TABLE…]", "list, create or drop tables", 1, many, true, tablesCommand},
		{"dump", "FOLDER|blob:CONTAINER[/PREFIX] [TABLE…]", "back up all tables of an account, or some", 1, many, true, dumpCommand},
		{"restore", "FOLDER|blob:CONTAINER[/PREFIX] [TABLE…]", "write the rows of a backup to tables, which are created", 1, many, true, restoreCommand},
		{"explain", "FILTER", "print how a filter is executed and what it costs", 1, 1, false, explainCommand},
		{"survey", "TABLE", "print Go types and options for a table that no program has declared", 1, 1, true, surveyCommand},
		{"verify", "STORE", "report the rows of views that differ from what the entities imply", 1, 1, true, viewCommand},
		{"repair", "STORE", "correct them", 1, 1, true, viewCommand},
		{"sweep", "STORE", "complete operations whose outbox messages were lost", 1, 1, true, sweepCommand},
		{"journal", "JOURNAL PARTITIONKEY ROWKEY", "print the recorded changes of an entity, the newest first", 3, 3, true, journalCommand},
		{"poison", "list|show|replay|discard QUEUE [ID…]", "list, replay or discard messages that could not be processed", 2, many, true, poisonCommand},
		{"heat", "SNAPSHOT…", "merge what -heat has saved, print the findings, write the page", 1, many, false, heatCommand},
	}
}

// cli is one run of the program.
type cli struct {
	in       io.Reader
	out, err io.Writer
	terminal bool                 // err is one
	demo     *storagetest.Account // nil: -demo makes one
	identity func() (azcore.TokenCredential, error)
	stores   []Store

	flags     *flag.FlagSet
	accounts  []*accountFlags
	where     string
	allowScan bool
	json      bool
	dryRun    bool
	job       state
	force     bool // ignore the state, and overwrite files
	meter     *heat.Meter
	found     bool   // what the command was to find, and has reported
	advice    string // what to do after an error, in a line of its own

	// What the flags select, when the action begins. The accounts are nil if the command needs none.
	from, to *Account
	filter   query.Filter
}

// Main executes the command line of the process and exits. stores are those that verify, repair, sweep and journal know. An interrupt
// ends the command; a second one ends the process immediately.
func Main(stores ...Store) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe fails, and the failure is reported
	code := Run(ctx, os.Args[1:], stores...)
	stop()
	os.Exit(code)
}

// Run executes a command line without the name of the program and returns the exit code: 0 if it is done, 1 if it has found
// something, 2 if nothing was done because of a wrong command line, and 3 if it failed. It uses the standard input and outputs
// of the process.
func Run(ctx context.Context, args []string, stores ...Store) (exitCode int) {
	c := &cli{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stderr), identity: defaultIdentity, stores: stores}
	return c.run(ctx, args)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// run executes a command line and returns the exit code.
func (c *cli) run(ctx context.Context, args []string) int {
	err := c.execute(ctx, args)
	switch {
	case err == nil && c.found:
		return exitFound
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitDone
	}
	c.endProgress()
	c.warn("tablectl: %s%s", c.describe(err), c.advice)
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitFailure
}

// describe returns the text of the error that ends the program.
func (c *cli) describe(err error) string {
	var e *patterns.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, syscall.EPIPE):
		return "the program that reads the output has ended"
	case !errors.As(err, &e) || e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden:
		return err.Error()
	}
	text := err.Error()
	for _, a := range slices.Compact([]*Account{c.from, c.to}) {
		if a.credential != "" {
			text += fmt.Sprintf("\nthe credential of %s is from %s", a.account.Name, a.credential)
		}
	}
	return text
}

func (c *cli) execute(ctx context.Context, args []string) error {
	name := strings.Join(args[:min(len(args), 1)], "")
	if name == "help" && len(args) > 1 {
		name, args = args[1], []string{args[1], "-h"}
	}
	for _, k := range commands() {
		if k.name == name {
			return c.command(ctx, k, args[1:])
		}
	}
	if slices.Contains([]string{"version", "-version", "--version"}, name) {
		_, err := fmt.Fprintln(c.out, version())
		return err
	}
	fmt.Fprint(c.err, "tablectl moves, compares, checks and repairs tables of Azure Storage.\n\nUsage: tablectl COMMAND [flags] ARGUMENTS\n\n")
	for _, k := range commands() {
		fmt.Fprintf(c.err, "  %-8s %s\n", k.name, k.about)
	}
	fmt.Fprint(c.err, "  version  print the version of the program\n\ntablectl help COMMAND prints the flags of a command.\n\n"+
		"Exit codes: 0 done, 1 done and differences, findings or refused rows reported, 2 nothing was done: the command\n"+
		"line is wrong, 3 failed or interrupted.\n\n")
	switch name {
	case "help", "-h", "--help":
		return nil
	case "":
		return usagef("which command?")
	}
	return usagef("no command %q", name)
}

// version returns the versions of the program and of azpatterns.
func version() string {
	const module = "github.com/azpatterns/azpatterns"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version"
	}
	text := info.Main.Path + " " + info.Main.Version
	for _, m := range info.Deps {
		if m.Path == module {
			text += ", " + module + " " + m.Version
		}
	}
	return text + ", " + info.GoVersion
}

func (c *cli) command(ctx context.Context, k command, args []string) (err error) {
	c.flags = flag.NewFlagSet(k.name, flag.ContinueOnError)
	c.flags.SetOutput(c.err)
	c.flags.Usage = func() {
		fmt.Fprintf(c.err, "Usage: tablectl %s [flags] %s\n\n%s\n\n", k.name, k.args, k.about)
		c.flags.PrintDefaults()
		fmt.Fprint(c.err, "  --\n    \tends the flags: an argument that follows may begin with -\n")
	}
	c.flags.BoolVar(&c.json, "json", false, "print the result as JSON")
	save := c.flags.String("heat", "", "save which keys the requests of this command used to this `file`: a page if it ends in .html, otherwise a snapshot")
	if k.account {
		c.accountFlags("", "the account")
	}
	do := k.setup(c)
	arguments, err := c.parse(args)
	if err != nil {
		return usagef("%w", err)
	}
	if len(arguments) < k.min || len(arguments) > k.max {
		return usagef("%s has the arguments %s", k.name, k.args)
	}
	if *save != "" {
		if c.meter, err = heat.NewMeter(nil); err != nil {
			return err
		}
		defer func() { err = cmp.Or(saveHeat(ctx, c.meter.Snapshot(), *save), err) }()
	}
	if err := c.parseFilter(); err != nil {
		return err
	}
	if k.name != "diff" || !isFile(arguments[0]) || !isFile(arguments[1]) { // two files need no account
		if err := c.openAll(ctx); err != nil {
			return err
		}
	}
	return do(ctx, arguments)
}

// parse parses flags and arguments in any order. What follows -- are arguments.
func (c *cli) parse(args []string) (arguments []string, err error) {
	var rest []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	for {
		if err := c.flags.Parse(args); err != nil {
			return nil, err
		}
		if args = c.flags.Args(); len(args) == 0 {
			return append(arguments, rest...), nil
		}
		arguments, args = append(arguments, args[0]), args[1:]
	}
}
