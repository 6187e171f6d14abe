package govern

import (
	"math"
	"time"
)

// The limit of a partition or of an account is a rate of entities per second, which requests
// take from a bucket. It changes in steps of a tenth of a second.
//
// A limit that was never refused doubles in each step in which requests waited (slow start).
// After a refusal it is held a little below what the service accepted until perRefusal requests
// were accepted for each that was refused. So at most one of so many requests is refused in the
// long run, however large they are. Then it grows in a shape like that of RFC 9438 (CUBIC), but
// of the fifth power: slowly near what was accepted, then by maxGrowth in each step. A part of
// the growth does not depend on the limit, so that the limits of several processes become equal.
const (
	stepTime   = 100 * time.Millisecond
	stepsKept  = 11                     // those that are part of the last second
	backoff    = 0.95                   // of what was accepted
	perRefusal = 120.0                  // requests
	growTime   = 900 * time.Millisecond // until what was accepted is reached again
	heldAt     = growTime / 8           // the part of it that a limit grows while it is held
	maxGrowth  = 1.05                   // of a step
	evenly     = 0.12                   // of the first rate, for processes to become equal
	burst      = 0.05                   // seconds of the rate that an unused limit permits immediately
	minBurst   = 100                    // entities: a transaction need not wait for parts of it
	minRate    = 10.0

	targetShare = 0.98 // of a known target
	startGrowth = 1.25 // of a step, of a limit that has exceeded the documented target
	unknownPage = 100  // rows of a page that may have any number

	quietKept = 1_024 // requests that show which refusals do not depend on the rate
	leastOdd  = 3     // refusals that show that some do not depend on the rate
	mostOdd   = 0.05  // of the requests
	maxSpare  = 10    // such refusals in succession

	backgroundShare = 0.05 // of what is used while foreground and background wait

	firstPause = 25 * time.Millisecond // after a refusal without Retry-After
	maxPause   = 200 * time.Millisecond

	forget = 30 * time.Second // after which a limit that is not reached, and refusals, are not known any more
)

// course is how a limit begins.
type course struct {
	first  float64       // rate
	steep  float64       // up to which it doubles
	target float64       // that it never exceeds; 0: unknown
	tick   time.Duration // that a request waits at least
}

// courses are those without known targets: the service documents what it accepts, and some accounts
// accept more.
var courses = [limits]course{
	ofPartition: {first: 500, steep: 2_000, tick: time.Millisecond},
	ofAccount:   {first: 5_000, steep: 20_000, tick: time.Millisecond},
}

// limiter is the limit of one partition or account. The mutex of the governor protects it.
type limiter struct {
	hash uint64
	uses uint8 // see [limiters]
	*course
	timer *time.Timer
	queue [2]queue // foreground, background
	owed  float64  // entities that the background may use before the foreground

	rate      float64       // entities per second
	tokens    float64       // entities that may be sent now; negative after a larger request
	at, began time.Duration // of tokens, and of the limit

	learned         float64       // what was accepted before the last refusal; 0: never refused
	held            float64       // requests to accept before the limit may grow to learned
	age             time.Duration // for which the limit was reached since then
	cut, reached    time.Duration // when the rate was reduced, and when a request waited for it
	hungry, trusted bool          // a request waited in this step; some refusals are known not to depend on the rate
	fore            float64       // entities of the foreground of late, less those of the background

	closed, probing bool          // since a refusal no request was accepted; the first one after it is sent
	resume, pause   time.Duration // when it may be sent; after the next refusal

	step          uint64             // the number of the present step
	steps         [stepsKept]float64 // entities accepted in each of the last steps
	page, retries float64            // rows of a page, 0: unknown; retries that are permitted

	// Requests while the limit was held, and those of them that were refused although the service has
	// accepted more: such refusals do not depend on the rate. spare is how many may be ignored, and
	// before the rate before the first of them. need odd ones make them trusted.
	quiet, odd, spare, before, need float64
	fastest, usual                  float64 // latency in seconds: the lowest of late, and a mean
}

func (l *limiter) init(hash uint64, now time.Duration, c *course, share float64) {
	*l = limiter{hash: hash, course: c, rate: c.first, at: now, began: now, reached: now, cut: now - time.Minute, pause: firstPause, need: leastOdd,
		timer: l.timer, step: uint64(now / stepTime)}
	if l.tokens = l.depth(); share > 0 {
		l.retries = spareRetries
	}
}

// still returns l if it is still the limiter for hash, else nil.
func (l *limiter) still(hash uint64) *limiter {
	if l == nil || l.hash != hash {
		return nil
	}
	return l
}

// depth returns how many entities a limit permits that was not used. With a known target, a second
// has no more than the target.
func (l *limiter) depth() float64 {
	if l.target > 0 {
		return (1 - targetShare) * l.target
	}
	return max(l.rate*burst, minBurst)
}

// advance adds the tokens since it was called last, and ends the step. If the clock was set
// back, the limit continues from there.
func (l *limiter) advance(now time.Duration) {
	passed := now - l.at
	l.at = now
	if passed < 0 {
		l.cut, l.reached, l.resume = l.cut+passed, l.reached+passed, l.resume+passed
	} else if !l.closed {
		l.tokens = min(l.tokens+float64(passed)/float64(time.Second)*l.rate, l.depth())
	}
	step := uint64(now / stepTime)
	if step == l.step {
		return
	}
	if l.hungry && !l.closed {
		l.grow()
	}
	for n := l.step + 1; n <= step && n <= l.step+stepsKept; n++ {
		l.steps[n%stepsKept] = 0
	}
	l.step = step
	l.fastest = min(l.fastest*1.01, l.usual) // an old measurement counts less
	if now-l.reached > forget {
		l.learned, l.reached = 0, now
		l.rate = max(l.first, min(l.rate, 2*l.throughput()))
		l.tokens = min(l.tokens, l.depth())
	}
	l.hungry, l.fore = l.waiting(), l.fore*0.9
}

// grow raises the rate at the end of a step in which requests waited.
func (l *limiter) grow() {
	if l.learned == 0 {
		if l.rate < l.steep {
			l.rate = min(2*l.rate, l.steep)
		} else if l.target == 0 {
			l.rate *= startGrowth
		}
		return
	}
	if l.at-l.cut > forget {
		l.held = 0
	} else if l.fore < 0 {
		return // refusals delay the foreground, which has enough
	}
	l.age += stepTime
	if l.held > 0 {
		l.age = min(l.age, heldAt)
	}
	passed := l.age.Seconds() / growTime.Seconds()
	grown := l.learned*(1+(1-backoff)*math.Pow(passed-1, 5)) + l.first*evenly*passed
	l.rate = min(max(l.rate, grown), l.rate*maxGrowth)
	if l.target > 0 {
		l.rate = min(l.rate, targetShare*l.target)
	}
}

// throughput returns the entities accepted in the last second, or per second since the limit began:
// of the first step only the part that is not longer ago.
func (l *limiter) throughput() float64 {
	part := float64(l.at%stepTime) / float64(stepTime)
	sum := -part * l.steps[(l.step+1)%stepsKept]
	for _, n := range l.steps {
		sum += n
	}
	return max(sum, 0) / min(max(l.at-l.began, stepTime).Seconds(), 1)
}

// admit takes weight tokens for a request that need not wait.
func (l *limiter) admit(weight float64, now time.Duration, probe *bool, background bool) bool {
	l.advance(now)
	return !l.waiting() && l.take(weight, now, probe, background)
}

// take takes weight tokens. A request that is larger than what is left is sent as well: others
// wait for longer. One in the background is not, because the foreground would wait. After a refusal,
// take admits one request.
func (l *limiter) take(weight float64, now time.Duration, probe *bool, background bool) bool {
	if l.closed {
		if now < l.resume || l.probing {
			return false
		}
		l.probing, *probe = true, true
		return true
	}
	if l.tokens <= 0 || background && l.tokens < l.enough(weight) {
		return false
	}
	if l.charge(weight); background {
		weight = -weight
	}
	l.fore += weight
	return true
}

// enough returns the tokens that a request in the background needs. Some are left for a foreground that does not wait.
func (l *limiter) enough(weight float64) float64 {
	if l.queue[0].first == nil {
		weight += l.depth() / 2
	}
	return min(weight, l.depth())
}

func (l *limiter) charge(weight float64) { l.tokens -= weight }

// accepted counts what the service did.
func (l *limiter) accepted(now, sent time.Duration, weight float64) {
	l.advance(now)
	l.steps[l.step%stepsKept] += weight
	if l.held > 0 {
		l.quiet++
	}
	if l.trusted {
		if l.spare = min(l.spare+2*min(l.odd/l.quiet, mostOdd), maxSpare); l.spare == maxSpare {
			l.need = leastOdd
		}
	}
	if l.quiet > quietKept {
		l.quiet, l.odd = l.quiet/2, l.odd/2
	}
	l.held = max(l.held-1, 0)
	if l.closed && sent >= l.resume {
		l.closed, l.probing, l.pause, l.tokens = false, false, firstPause, -weight
	}
}

// refused reduces the rate, unless the refusal does not depend on it, or the request was sent before the service could notice the
// last reduction, and stops requests until the rate permits one of that weight, at least for a
// while.
func (l *limiter) refused(now, sent time.Duration, weight float64, probe bool, after time.Duration) {
	l.advance(now)
	l.uses = maxUses
	if !l.closed && after == 0 {
		if l.held == 0 {
			l.before = l.rate
		} else if sent >= l.cut {
			l.quiet, l.odd = l.quiet+1, l.odd+1
			if !l.trusted && l.odd >= l.need && l.odd < mostOdd*l.quiet {
				l.rate = max(l.rate, l.before)
				l.learned, l.held, l.spare, l.trusted = l.rate, 0, 3, true
			}
		}
		if l.spare >= 1 {
			l.spare--
			return
		}
		if l.trusted {
			l.trusted, l.quiet, l.odd, l.need = false, 0, 0, 2*l.need
		}
	}
	l.held += perRefusal
	switch {
	case !l.closed && sent >= l.cut:
		l.reduce(now)
	case !probe && after == 0:
		return // sent before the reduction
	case probe:
		l.pause = min(2*l.pause, maxPause)
	}
	l.closed, l.probing = true, l.probing && !probe
	l.resume = max(l.resume, now+max(after, l.pause, time.Duration(weight/l.rate*float64(time.Second))))
	l.hungry = false
}

// reduce makes the rate less than what was accepted, but at most halves it. After slow start,
// which may have gone far beyond, it halves the first rate at most.
func (l *limiter) reduce(now time.Duration) {
	least := l.rate / 2
	if l.learned == 0 {
		least = l.first / 2
	}
	l.learned = max(min(l.rate, max(l.throughput(), least)), minRate)
	l.rate = l.learned * backoff
	l.age, l.cut = 0, now
}

// observe reduces the rate if replies take much longer than they did: a partition server
// becomes slow before it refuses requests. latency is of a request for one entity.
func (l *limiter) observe(latency, now time.Duration) {
	seconds := latency.Seconds()
	if l.usual == 0 {
		l.fastest, l.usual = seconds, seconds
	}
	l.usual += (seconds - l.usual) / 16
	l.fastest = min(l.fastest, seconds)
	if l.usual > 4*l.fastest+0.02 && now-l.cut > time.Second && (l.hungry || l.waiting()) {
		l.reduce(now)
	}
}

// untilFree returns how long a request waits that comes after ahead entities. It is an estimate
// if requests are waiting or the limit is closed.
func (l *limiter) untilFree(ahead float64, now time.Duration) time.Duration {
	wait := time.Duration(max(ahead-l.tokens, 0) / l.rate * float64(time.Second))
	if l.closed {
		wait = time.Duration(ahead / l.rate * float64(time.Second))
		wait += max(l.resume-now, 0)
	}
	return min(max(wait, 0), math.MaxInt64/4)
}
