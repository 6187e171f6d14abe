package canary_test

import (
	"math"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/query"
)

type layoutKey struct {
	Name string
	N    uint32 `key:"digits=4"`
}

func layout(e *env) *keys.Layout[layoutKey] {
	l, err := keys.NewLayout[layoutKey](nil)
	must(e.t, err)
	return l
}

var farTime = time.Date(20310, 7, 8, 9, 10, 11, 0, time.UTC)

var pureCalls = []call{
	{"keys.Digits", func(*env) []any {
		return results(failure(keys.Digits(8675309421, 3)), failure(keys.Digits(8675309421, -1)))
	}},
	{"keys.ParseDigits", func(*env) []any {
		return results(failure(keys.ParseDigits(bird)), failure(keys.ParseDigits(digits+digits+digits)))
	}},
	{"keys.Unescape", func(*env) []any {
		return results(failure(keys.Unescape(bird+"=zz")), failure(keys.Unescape(bird+"_2")))
	}},
	{"keys.Float64", func(*env) []any { return results(failure(keys.Float64(math.NaN()))) }},
	{"keys.ParseFloat64", func(*env) []any {
		return results(failure(keys.ParseFloat64(bird)), failure(keys.ParseFloat64(fraction)))
	}},
	{"keys.ParseInt64", func(*env) []any { return results(failure(keys.ParseInt64(bird)), failure(keys.ParseInt64(digits))) }},
	{"keys.Key.Validate", func(*env) []any { return results(badKey.Validate(), keys.Key{Partition: repeated(2000)}.Validate()) }},
	{"keys.Check", func(*env) []any { return results(keys.Check("RowKey", bird+"\xff"), keys.Check("RowKey", bird+"/")) }},
	{"keys.NewLayout", func(*env) []any { return results(failure(keys.NewLayout[chan int](nil))) }},
	{"keys.Layout.Format", func(e *env) []any { return results(failure(layout(e).Format(layoutKey{bird + "/", 86753094}))) }},
	{"keys.Layout.Parse", func(e *env) []any {
		return results(failure(layout(e).Parse(bird)), failure(layout(e).Parse(bird+"_"+bird)))
	}},
	{"keys.Layout.Range", func(e *env) []any {
		return results(failure(layout(e).Range(layoutKey{bird + "/", 86753094}, 2)), failure(layout(e).Range(layoutKey{bird, 1}, 9)))
	}},
	{"keys.NewSpread", func(*env) []any { return results(failure(keys.NewSpread(-1))) }},
	{"keys.Spread.Base", func(*env) []any { return results(failure(new(keys.Spread).Base(bird))) }},
	{"keys.Ticks", func(*env) []any { return results(failure(keys.Ticks(farTime))) }},
	{"keys.ParseTicks", func(*env) []any { return results(failure(keys.ParseTicks(bird)), failure(keys.ParseTicks(digits))) }},
	{"keys.InvertedTicks", func(*env) []any { return results(failure(keys.InvertedTicks(farTime))) }},
	{"keys.ParseInvertedTicks", func(*env) []any {
		return results(failure(keys.ParseInvertedTicks(bird)), failure(keys.ParseInvertedTicks(digits)))
	}},
	{"keys.ParseUUID", func(*env) []any { return results(failure(keys.ParseUUID(bird)), failure(keys.ParseUUID(guid+"0"))) }},
	{"keys.TicksRange", func(*env) []any { return results(failure(keys.TicksRange(farTime, farTime))) }},
	{"keys.InvertedTicksRange", func(*env) []any { return results(failure(keys.InvertedTicksRange(farTime, farTime))) }},
	{"query.Parse", func(*env) []any {
		return each([]string{bird, "Name eq '" + bird, "N eq " + digits + "x", "At eq datetime'" + bird + "'", "ID eq guid'" + guid + "0'", "Raw eq X'" + bird + "'", "Name eq '" + bird + "' and"},
			func(text string) error { return failure(query.Parse(text)) })
	}},
	{"query.Filter.Err", func(*env) []any {
		return results(badQuery.Err(), query.Prop("Name").Eq(bird+"\xff").Err(), query.Prop("At").Eq(farTime).Err(), query.Prop("N").In().Err(), query.Prop("Name").Prefix(bird+"\xff").Err())
	}},
	{"query.Filter.Check", func(*env) []any { return results(query.Prop("N").Eq(bird).Check(query.Schema{"N": query.Int64})) }},
	{"query.Plan.Check", func(*env) []any {
		return results(query.Explain(query.Prop("Name").Eq(bird)).Check(query.Explain(query.PartitionKey.Eq(bird)).Class))
	}},
	{"access.Range.Err", func(*env) []any {
		return results(access.Between(theKey, keys.Key{Partition: "a"}).Err(), access.Partition(badKey.Row).Err(), access.Rows(badKey.Row, keys.Prefix(bird)).Err())
	}},
	{"access.Sign", func(e *env) []any {
		cred, err := aztables.NewSharedKeyCredential("account", "AAAA")
		must(e.t, err)
		return results(failure(access.Sign(cred, "https://account.table.core.windows.net/", access.Scope{Policy: repeated(70)})),
			failure(access.Sign(cred, "http://\x01"+bird, access.Scope{Table: bird})), failure(access.Sign(nil, "", access.Scope{})),
			failure(access.Sign(cred, "https://account.table.core.windows.net/", access.Scope{Table: "people", Range: access.Partition(badKey.Row), Allow: access.Read, Expiry: someTime})))
	}},
	{"access.Token.Client", func(*env) []any { return results(failure(access.Token{}.Client(nil))) }},
}
