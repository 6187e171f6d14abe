package tablectl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// poisonPast is the text after the number of messages in the summary of each command.
var poisonPast = map[string]string{"list": "messages", "show": "messages", "replay": "replayed", "discard": "discarded"}

func poisonCommand(c *cli) action {
	name := c.flags.String("poison", "", "the `name` of the poison queue (default that of the queue and -poison)")
	kind := c.flags.String("kind", "", "only messages of this `kind`")
	everything := c.flags.Bool("all", false, "replay or discard all messages, without naming their IDs")
	c.flags.BoolVar(&c.dryRun, "dry-run", false, "print what would be replayed or discarded, and change nothing")
	return func(ctx context.Context, args []string) error {
		do, ids := args[0], args[2:]
		if poisonPast[do] == "" {
			return usagef("no command poison %q: it is list, show, replay or discard", do)
		}
		if (do == "replay" || do == "discard") && (len(ids) == 0) != *everything {
			return usagef("%s needs either IDs or -all", do)
		}
		queue, err1 := c.from.Queue(args[1])
		poison, err2 := c.from.Queue(cmp.Or(*name, args[1]+"-poison"))
		q, err3 := eventual.NewPoisonQueue(queue, poison, nil)
		if err := cmp.Or(err1, err2, err3); err != nil {
			return err
		}
		found := map[string]bool{}
		change := map[string]func(context.Context, *eventual.PoisonMessage) error{"replay": q.Replay, "discard": q.Discard}[do]
		// Take hides the messages while the loop runs. Those that are neither replayed nor discarded
		// become visible again.
		for m, err := range q.Take(ctx) {
			if err != nil {
				return err
			}
			if *kind != "" && m.Kind != *kind || len(ids) > 0 && !slices.Contains(ids, m.ID) {
				continue
			}
			found[m.ID] = true
			if change != nil && !c.dryRun {
				err = change(ctx, m)
			}
			if err == nil {
				err = c.printPoisoned(m, do == "show")
			}
			if err != nil {
				return err
			}
		}
		for _, id := range ids {
			if !found[id] {
				return fmt.Errorf("no message with ID %s", id)
			}
		}
		return c.summary(false, "", figure{len(found), poisonPast[do]})
	}
}

func (c *cli) printPoisoned(m *eventual.PoisonMessage, show bool) error {
	text := fmt.Sprintf("%s  %s, %d attempts, %s", m.ID, cmp.Or(m.Kind, "unknown kind"), m.Attempts, cmp.Or(m.Reason, "unknown reason"))
	p := map[string]any{"id": m.ID, "kind": m.Kind, "reason": m.Reason, "attempts": m.Attempts, "enqueued": m.Enqueued, "poisonedAt": m.PoisonedAt}
	if show {
		payload := payloadJSON(m.Payload)
		p["payload"] = payload
		text += "\n" + string(payload)
	}
	return c.print(p, text)
}

// payloadJSON returns a payload that is JSON as it is, and any other as a JSON string, of base64 if it
// is no text. A payload in a blob is null.
func payloadJSON(payload []byte) json.RawMessage {
	var compact bytes.Buffer
	if payload == nil || utf8.Valid(payload) && json.Compact(&compact, payload) == nil {
		return json.RawMessage(cmp.Or(compact.String(), "null"))
	}
	var v any = payload
	if utf8.Valid(payload) {
		v = string(payload)
	}
	text, _ := json.Marshal(v) // of text or bytes, which cannot fail
	return text
}
