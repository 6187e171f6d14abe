package signals

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Frame struct {
	Channel uint16
	Samples []int16
}

func (f Frame) bytes() ([]byte, error) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, f.Channel); err != nil {
		return nil, err
	}
	if err := binary.Write(&b, binary.LittleEndian, f.Samples); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

type Out struct{ q *azqueue.QueueClient }

// Send queues one frame of up to 4096 samples.
func (o *Out) Send(ctx context.Context, f Frame) error {
	if len(f.Samples) > 4096 {
		return errors.New("frame is too long")
	}
	raw, err := f.bytes()
	if err != nil {
		return err
	}
	_, err = o.q.EnqueueMessage(ctx, string(raw), nil) // MISTAKE: arbitrary bytes are not valid in the XML body, they need base64
	if err != nil {
		return fmt.Errorf("channel %d: %w", f.Channel, err)
	}
	return nil
}
