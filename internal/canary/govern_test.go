package canary_test

import (
	"math"

	"github.com/azpatterns/azpatterns/patterns/govern"
)

var governCalls = []call{
	{"govern.New", func(*env) []any { return results(failure(govern.New(&govern.Options{RetryShare: math.Inf(1)}))) }},
}
