package patterns

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// Accelerate adds two policies to opts. If the aztables client is built with them, a [Table] on
// that client decodes rows straight from the response into T and encodes them straight into the
// request, instead of through the maps of aztables:
//
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	service, err := aztables.NewServiceClient(url, cred, &opts)
//
// Everything works without them, more slowly, except for two things that aztables
// cannot send: changing or deleting rows with a quote in a key within a transaction, and
// changing or deleting rows with an empty partition key. These are refused with
// [ErrNeedsAccelerate].
//
// The variable of a policy.WithCaptureResponse in the context receives the reply to the last
// request of the call, with and without the policies. The body of a reply of success may have
// been read. Without the policies, and until the first response shows that they are present, an
// Insert replaces a policy.WithHTTPHeader.
//
// Table sends a request again, with another address and body, if an earlier one was of the
// same kind, instead of having aztables build it. It does so only if the pipeline has no other
// policies than these two and those of aztables, and the SDK neither logs nor traces. Set a log
// listener before the first request, as azcore requires.
//
// The policies do not touch other requests of the client. Credentials, retries and tracing
// remain those of opts. Requests are sent through the transport of opts, whose replies and
// redirects are limited by [LimitReplies]; a transport that is set later needs LimitReplies again.
// Options that already have the policies do not get them twice. Copies of opts that were made
// before are not changed. nil options are ignored.
func Accelerate(opts *azcore.ClientOptions) { wire.Accelerate(opts) }

// LimitReplies replaces the transport of the options of a client of tables, queues or blobs by
// one that sends through it and limits the memory for replies. Without it, the SDK reads any
// reply to its end, for example an endless one of a broken gateway:
//
//	var opts azqueue.ClientOptions
//	patterns.LimitReplies(&opts.ClientOptions)
//	jobs, err := azqueue.NewQueueClient(url, cred, &opts)
//
// Reading a reply of success of more than 16 MiB, decompressed, fails with [ErrBadReply]; no
// reply to this module is so long, except pages of large rows from an emulator, which Table
// then requests with fewer rows. Of a reply of failure, the first 1 MiB is read. The content
// of a blob is not limited, as it is read as a stream.
//
// While a reply is read it takes memory. These are bounds for one request, of all that it allocates,
// whether the garbage collector has freed it meanwhile or not:
//
//	without LimitReplies               no limit
//	Table, with Accelerate             80 MiB
//	messages of a queue                16 MiB, of at most 4,096 tags
//	Table, with LimitReplies only      160 times the reply, 2.5 GiB
//	lists of tables and of blobs       160 times the reply, 2.5 GiB
//
// The SDK decodes the last two. A reply takes so much only if it consists of millions of empty
// elements, as none of the service does.
//
// A redirect is an [ErrBadReply] and is not followed: the service sends none, and another host
// would receive the SAS, in the header Referer, and the row. This also holds if the transport is an
// *http.Client without a CheckRedirect, of which LimitReplies uses a copy. Any other transport decides
// itself, and so does the SDK for a client without LimitReplies: its default transport follows
// redirects.
//
// Enqueue of package eventual does not need what a reply contains, and does not decode it if
// the client has such a transport. That halves its cost.
//
// Without a transport, it is one with the settings of the SDK's default, except that it keeps as
// many idle connections as were used concurrently, each for 90 seconds, instead of 10 for a host.
// All clients share it. The new transport is safe for concurrent use if the old one is. A transport
// that has the limits already is not changed, and one that is set later needs LimitReplies again.
// nil options are ignored. [Accelerate] includes LimitReplies.
func LimitReplies(opts *azcore.ClientOptions) {
	if opts != nil {
		opts.Transport = limit.Transport(opts.Transport)
	}
}
