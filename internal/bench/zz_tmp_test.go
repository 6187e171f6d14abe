package bench
import ("testing";"os")
func TestZZ(t *testing.T) {
	for i, u := range map[string]string{"table":useTable,"store":useStore} {
		if i=="table" && os.Getenv("ZZT")=="" {continue}
		v, err := sizeOf(u)(t.Context()); t.Log(i, v, err)
	}
	os.WriteFile("/tmp/w/s1.go", programOf(1,useStore), 0o600)
	os.WriteFile("/tmp/w/s11.go", programOf(11,useStore), 0o600)
}
func TestZAlloc(t *testing.T) {
	for _, row := range Rows() {
		if row.Latency > 0 { continue }
		row.Hand = nil
		results, err := MeasureRow(t.Context(), row, Options{Rounds: 5, Runs: 100 / max(row.Per, 1)})
		if err != nil { t.Fatal(err) }
		for _, r := range results { t.Logf("%-45s %s %.2f allocs %.0f bytes %v", row.Name, r.Way, r.Allocs, r.Bytes, r.Time) }
	}
}
