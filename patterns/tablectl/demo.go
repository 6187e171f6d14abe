package tablectl

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// person is an entity of the Store of -demo.
type person struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	Email      string
	Badge      string
	Salary     int32
	Hired      time.Time
}

// newPeople returns the Store of -demo.
func newPeople(a *Account) (*patterns.Store[person], error) {
	email := secondaryindex.Intra("email", func(p *person) (string, bool) { return p.Email, true }, nil)
	badge := secondaryindex.Inter("badge", a.Table("Badges"), func(p *person) (string, bool) { return p.Badge, true }, nil)
	table, err1 := patterns.NewTable[person](a.Table("People"), nil)
	queue, err2 := a.Queue("jobs")
	outbox, err3 := eventual.NewOutbox(queue, "", nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[person]{Views: []patterns.View[person]{email, badge}, Outbox: outbox})
}

// samples are the rows of the tables of -demo, as export writes them, and the messages of a poison
// queue. Types has a value of every type. People and Badges are the tables of the Store: a program that
// does not use it has deleted two people, and so left their rows of the views.
//
//go:embed demo
var samples embed.FS

// fillDemo creates the tables and the queues of -demo.
func (c *cli) fillDemo(ctx context.Context) error {
	for _, name := range []string{"Types", "People", "Badges"} {
		text, err := samples.ReadFile("demo/" + name + ".jsonl")
		if err != nil {
			return err
		}
		var printed bytes.Buffer
		loader := &cli{in: bytes.NewReader(text), out: io.Discard, err: &printed, demo: c.demo}
		if loader.run(ctx, []string{"import", "-demo", "-create", "-aside", os.DevNull, standard, name}) != exitDone {
			return fmt.Errorf("the samples of %s are not complete: %s", name, &printed)
		}
	}
	messages, err := samples.ReadFile("demo/jobs-poison.jsonl")
	jobs, poison := c.demo.Queue("jobs"), c.demo.Queue("jobs-poison")
	_, err1 := jobs.Create(ctx, nil)
	_, err2 := poison.Create(ctx, nil)
	err = errors.Join(err, err1, err2)
	for message := range strings.Lines(string(messages)) {
		_, failed := poison.EnqueueMessage(ctx, strings.TrimSpace(message), nil)
		err = errors.Join(err, failed)
	}
	return err
}
