package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// poisoned is a message in JSON.
type poisoned struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Attempts   int             `json:"attempts,omitempty"`
	Enqueued   time.Time       `json:"enqueued,omitzero"`
	PoisonedAt time.Time       `json:"poisonedAt,omitzero"`
	Payload    json.RawMessage `json:"payload,omitempty"` // show: JSON, or a JSON string
}

// poisonFlags select messages.
type poisonFlags struct {
	from   accountFlags
	poison string
	kind   string
	all    bool
	dryRun bool
}

func poisonCommand(c *cli) action {
	var f poisonFlags
	f.from.register(c, "", "")
	c.flags.StringVar(&f.poison, "poison", "", "the `name` of the poison queue (default: that of the queue and -poison)")
	c.flags.StringVar(&f.kind, "kind", "", "only messages of this `kind`")
	c.flags.BoolVar(&f.all, "all", false, "replay or discard all messages, without naming their IDs")
	c.flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be replayed or discarded, and do nothing")
	return func(ctx context.Context, args []string) error {
		if len(args) < 2 {
			return usagef("list, show, replay or discard, and the name of the queue are needed")
		}
		do, ids := args[0], args[2:]
		switch {
		case !slices.Contains([]string{"list", "show", "replay", "discard"}, do):
			return usagef("unknown command poison %q", do)
		case do != "list" && (len(ids) == 0) != f.all && !(do == "show" && !f.all):
			return usagef("%s needs either IDs or -all", do)
		}
		q, err := c.poisonQueue(ctx, &f, args[1])
		if err != nil {
			return err
		}
		return c.eachPoisoned(ctx, q, &f, do, ids)
	}
}

func (c *cli) poisonQueue(ctx context.Context, f *poisonFlags, name string) (*eventual.PoisonQueue, error) {
	a, err := c.open(ctx, f.from)
	if err != nil {
		return nil, err
	}
	queue, err := a.queue(name)
	if err != nil {
		return nil, err
	}
	poison, err := a.queue(cmp.Or(f.poison, name+"-poison"))
	if err != nil {
		return nil, err
	}
	return eventual.NewPoisonQueue(queue, poison, nil)
}

// eachPoisoned takes the messages, which hides them from others meanwhile, and returns those that it
// neither replays nor discards.
func (c *cli) eachPoisoned(ctx context.Context, q *eventual.PoisonQueue, f *poisonFlags, do string, ids []string) error {
	found := map[string]bool{}
	for m, err := range q.Take(ctx) {
		if err != nil {
			return err
		}
		if f.kind != "" && m.Kind != f.kind || len(ids) > 0 && !slices.Contains(ids, m.ID) {
			continue
		}
		found[m.ID] = true
		switch {
		case f.dryRun:
		case do == "replay":
			err = q.Replay(ctx, m)
		case do == "discard":
			err = q.Discard(ctx, m)
		}
		if err != nil {
			return err
		}
		if err := c.printPoisoned(m, do == "show"); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if !found[id] {
			return fmt.Errorf("no message with ID %s", id)
		}
	}
	if !c.json && do != "show" {
		past := map[string]string{"list": "in the queue", "replay": "replayed", "discard": "discarded"}[do]
		if f.dryRun {
			past = "found (dry run: nothing was changed)"
		}
		fmt.Fprintf(c.out, "%d messages %s\n", len(found), past)
	}
	return nil
}

func (c *cli) printPoisoned(m *eventual.PoisonMessage, payload bool) error {
	p := poisoned{ID: m.ID, Kind: m.Kind, Reason: m.Reason, Attempts: m.Attempts, Enqueued: m.Enqueued, PoisonedAt: m.PoisonedAt}
	text := fmt.Sprintf("%s  %-12s  %d attempts  %s", m.ID, cmp.Or(m.Kind, "unknown kind"), m.Attempts, m.Reason)
	if payload {
		p.Payload = payloadJSON(m.Payload)
		text += "\n" + string(p.Payload)
	}
	return c.print(p, text)
}

// payloadJSON returns a payload that is JSON as it is, and any other as a JSON string, or as one of
// base64 if it is no text. A payload in a blob is null.
func payloadJSON(payload []byte) json.RawMessage {
	switch {
	case payload == nil:
		return json.RawMessage("null")
	case json.Valid(payload):
		return payload
	case utf8.Valid(payload):
		return appendText(nil, string(payload))
	}
	text, _ := json.Marshal(payload) // of bytes, which cannot fail
	return text
}
