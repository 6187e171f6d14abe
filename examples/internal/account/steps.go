package account

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Step does something, and returns what it has done.
type Step = func(context.Context) (string, error)

// Run runs the steps until one fails. It prints what each returns, in a column of this width, and how many
// requests it made.
func Run(ctx context.Context, out io.Writer, width int, requests func() int, steps ...Step) error {
	for _, step := range steps {
		before := requests()
		text, err := step(ctx)
		if err != nil {
			return err
		}
		n := requests() - before
		fmt.Fprintf(out, "%-*s %3d request%s\n", width, text, n, Plural(n))
	}
	return nil
}

// Plural returns what a noun ends in after the number n.
func Plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Drop calls drop with a new context, because ctx is canceled after an interrupt.
func Drop(ctx context.Context, drop func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return drop(ctx)
}
