package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/harness"
)

var livePackages = flag.String("live.packages", "", "packages whose tests TestAzuriteAsALiveAccount runs too, such as ../../patterns/...")

// report is what conversations with a live account have shown, in the form of an issue.
type report struct {
	service service
	account string
	cases   int
	differs []string
}

// add adds a reply that is not as expected. It does nothing for an account that is not live.
func (r *report) add(c conversation, i int, want expectation, got reply) {
	if r == nil {
		return
	}
	text := fmt.Sprintf("### %s\n\nRequest %d of the conversation is not answered as documented.\n\n", c.name, i+1)
	for _, s := range c.steps[:i+1] {
		text += "    " + s.request + "\n"
		for _, line := range strings.Split(s.headers+"\n"+s.body, "\n") {
			if line != "" {
				text += "    " + shortened(line) + "\n"
			}
		}
	}
	text += fmt.Sprintf("\nWanted %s", want.summary)
	for _, part := range want.present {
		text += fmt.Sprintf(", with `%s`", shortened(part))
	}
	for _, part := range want.absent {
		text += fmt.Sprintf(", without `%s`", shortened(part))
	}
	text += fmt.Sprintf(". Received %s:\n\n", got.summary)
	for line := range strings.SplitSeq(strings.TrimSpace(got.text), "\n") {
		text += "    " + shortened(strings.TrimSpace(line)) + "\n"
	}
	r.differs = append(r.differs, text)
}

// shortened returns a line without what is too long for a report.
func shortened(line string) string {
	if len(line) > 300 {
		return line[:300] + "…"
	}
	return line
}

func (r *report) print() {
	fmt.Printf("\n## %s service: %d of %d conversations differ\n\n%s, %s, %s\n\n", strings.ToUpper(string(r.service[:1]))+string(r.service[1:]),
		len(r.differs), r.cases, r.account, time.Now().UTC().Format(time.RFC3339), runtime.Version())
	for _, text := range r.differs {
		fmt.Println(text)
	}
	fmt.Println("(end of the report)")
}

var (
	reported  = regexp.MustCompile(`(?s)## (Table|Queue|Blob) service: (\d+) of (\d+) conversations differ\n(.*?)\(end of the report\)`)
	different = regexp.MustCompile(`(?m)^### (.+)$`)
)

// TestAzuriteAsALiveAccount runs the conversations in another process, which knows only the address of an account, as
// the service's are, and the token of a managed identity. The report must have exactly the listed differences of Azurite.
func TestAzuriteAsALiveAccount(t *testing.T) {
	if testing.Short() {
		t.Skip("has all conversations with Azurite once more")
	}
	env := append(os.Environ(), azurite.Live(t)...)
	env = append(env, harness.LiveVariable+"="+azurite.LiveAddress)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^Test(Table|Queue|Blob)Service$")
	cmd.Env = env
	output, _ := cmd.CombinedOutput() // the differences make it fail
	reports := reported.FindAllSubmatch(output, -1)
	if len(reports) != 3 {
		t.Fatalf("%d reports, want 3\n%s", len(reports), output)
	}
	for _, r := range reports {
		s := service(strings.ToLower(string(r[1])))
		var got, want []string
		for _, d := range different.FindAllSubmatch(r[4], -1) {
			got = append(got, string(d[1]))
		}
		cases, differs := load(t, s)
		for _, c := range cases {
			if c.onLive() && slices.ContainsFunc(differs, func(d difference) bool { return d.name == c.name }) {
				want = append(want, c.name)
			}
		}
		t.Logf("%s: %s conversations, %d differ", s, r[3], len(got))
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %q is listed as different, and the report does not have it", s, name)
			}
		}
		for _, name := range got {
			if !slices.Contains(want, name) {
				t.Errorf("%s: the report has %q, which is not listed", s, name)
			}
		}
	}
	if *livePackages != "" {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-short", "-vet=off"}, strings.Fields(*livePackages)...)...)
		cmd.Env = env
		output, err := cmd.CombinedOutput()
		t.Logf("%v\n%s", err, bytes.TrimSpace(output))
		if err != nil {
			t.Fail()
		}
	}
}
