package patterns

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// Accelerate returns a copy of opts with two more policies. If the aztables client is
// built with them, a [Table] on that client decodes rows straight from the response into T
// and encodes them straight into the request, instead of through the maps of aztables:
//
//	service, err := aztables.NewServiceClient(url, cred, patterns.Accelerate(nil))
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
// redirects are limited by [LimitReplies]; a transport that is set later needs LimitReplies again. nil
// means the zero options. Options that already have the policies do not get them twice.
func Accelerate(opts *aztables.ClientOptions) *aztables.ClientOptions {
	return wire.Accelerate(opts)
}

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
// would receive the SAS, in the header Referer, and the row. This also holds if t is an
// *http.Client without a CheckRedirect, of which LimitReplies uses a copy. Any other t decides
// itself, and so does the SDK for a client without LimitReplies: its default transport follows
// redirects.
//
// Enqueue of package eventual does not need what a reply contains, and does not decode it if
// the client has such a transport. That halves its cost.
//
// nil means a transport with the settings of the SDK's default, except that it keeps as many
// idle connections as were used concurrently, each for 90 seconds, instead of 10 for a host. All
// clients share it. The result is safe for concurrent use if t is. A transport that has the limits already is
// returned unchanged. [Accelerate] includes LimitReplies.
func LimitReplies(t policy.Transporter) policy.Transporter { return limit.Transport(t) }
