package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// print prints a result: as JSON with the flag -json, otherwise as text. It removes the progress.
func (c *cli) print(result any, text string) error {
	c.endProgress()
	if !c.json {
		_, err := fmt.Fprintln(c.out, text)
		return err
	}
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(result)
}

// figure is a number of a summary.
type figure struct {
	n    int
	name string
}

// summary prints the last line of a command, and returns errFound if it found something.
func (c *cli) summary(found bool, note string, figures ...figure) error {
	all := map[string]any{}
	var texts []string
	for _, f := range figures {
		all[f.name] = f.n
		texts = append(texts, fmt.Sprintf("%d %s", f.n, f.name))
	}
	text := strings.Join(texts, ", ")
	if note != "" {
		all["note"] = note
		text += " (" + note + ")"
	}
	err := c.print(all, text)
	if err == nil && found {
		return errFound
	}
	return err
}

// noteOf returns the note of the summary of a dry run.
func noteOf(dryRun bool) string {
	if dryRun {
		return "dry run: nothing was changed"
	}
	return ""
}
