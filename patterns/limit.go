package patterns

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/limit"
)

// LimitReplies returns a transport for clients of tables, queues and blobs that sends
// through t and limits the memory for replies. Without it, the SDK reads any reply to its
// end, for example an endless one of a broken gateway:
//
//	var o azcore.ClientOptions
//	o.Transport = patterns.LimitReplies(nil)
//	jobs, err := azqueue.NewQueueClient(url, cred, &azqueue.ClientOptions{ClientOptions: o})
//
// Reading a reply of success of more than 16 MiB, decompressed, fails with [ErrBadReply]; no
// reply to this module is so long, except pages of large rows from an emulator, which Table
// then requests with fewer rows. Of a reply of failure, the first 1 MiB is read. The content
// of a blob is not limited, as it is read as a stream.
//
// nil means a transport with the settings of the SDK's default; all clients share it. The
// result is safe for concurrent use if t is. A transport that has the limits already is
// returned unchanged. [Accelerate] includes LimitReplies.
func LimitReplies(t policy.Transporter) policy.Transporter { return limit.Transport(t) }
