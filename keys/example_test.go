package keys_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

func ExampleKey_Validate() {
	err := keys.Key{Partition: "Sales", Row: "home/jones"}.Validate()
	fmt.Println(err)
	fmt.Println(errors.Is(err, keys.ErrBadKey))
	// Output:
	// keys: RowKey: forbidden character U+002F (at byte 4)
	// true
}

func ExampleCheck() {
	fmt.Println(keys.Check("DepartmentName", "Research?"))
	// Output:
	// keys: DepartmentName: forbidden character U+003F (at byte 8)
}

func ExampleCompare() {
	fmt.Println(keys.Compare("111", "2"), keys.Compare("B", "a"))
	fmt.Println("😀" < "\uFFFD", keys.Compare("😀", "\uFFFD"))
	// Output:
	// -1 -1
	// false -1
}

func ExamplePrefix() {
	fmt.Printf("%q\n", keys.Prefix("email_a"))
	fmt.Printf("%q\n", keys.Prefix("000123_"))
	// Output:
	// {"email_a" "email_b"}
	// {"000123_" "000123`"}
}

func ExampleRange_Contains() {
	reviews := keys.Prefix("000123_")
	for _, row := range []string{"000123", "000123_2012", "0001230_2012", "000124_2012"} {
		fmt.Println(row, reviews.Contains(row))
	}
	// Output:
	// 000123 false
	// 000123_2012 true
	// 0001230_2012 false
	// 000124_2012 false
}

func ExampleRange_Under() {
	fmt.Printf("%q\n", keys.Range{From: "a", To: "b"}.Under("email_"))
	// Output:
	// {"email_a" "email_b"}
}

func ExampleDigits() {
	text, err := keys.Digits(123, 8)
	fmt.Println(text, err)
	_, err = keys.Digits(123, 2)
	fmt.Println(err)
	// Output:
	// 00000123 <nil>
	// keys: Digits: too many digits: the width is 2
}

func ExampleInt64() {
	for _, v := range []int64{-42, -1, 0, 42} {
		fmt.Println(keys.Int64(v))
	}
	// Output:
	// -9999999999999999958
	// -9999999999999999999
	// 00000000000000000000
	// 00000000000000000042
}

func ExampleFloat64() {
	for _, v := range []float64{-1.5, 0, 1.5} {
		text, err := keys.Float64(v)
		fmt.Println(text, err)
	}
	// Output:
	// 4007ffffffffffff <nil>
	// 8000000000000000 <nil>
	// bff8000000000000 <nil>
}

func ExampleTicks() {
	text, err := keys.Ticks(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(text, err)
	at, err := keys.ParseTicks(text)
	fmt.Println(at, err)
	// Output:
	// 0639028224000000000 <nil>
	// 2026-01-01 00:00:00 +0000 UTC <nil>
}

func ExampleInvertedTicks() {
	text, err := keys.InvertedTicks(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(text, err)
	at, err := keys.ParseInvertedTicks(text)
	fmt.Println(at, err)
	// Output:
	// 2516350751999999999 <nil>
	// 2026-01-01 00:00:00 +0000 UTC <nil>
}

func ExampleInvertedTicksRange() {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	window, err := keys.InvertedTicksRange(from, from.Add(time.Second))
	fmt.Printf("%q %v\n", window, err)
	fmt.Println(window.Contains("2516350751999999999_8f3a"))
	// Output:
	// {"2516350751990000000" "2516350752000000000"} <nil>
	// true
}

func ExampleTicksRange() {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	window, err := keys.TicksRange(day, day.AddDate(0, 0, 1))
	fmt.Printf("%q %v\n", window, err)
	// Output:
	// {"0639028224000000000" "0639029088000000000"} <nil>
}

func ExampleUUID() {
	fmt.Println(keys.UUID([16]byte{0x8f, 0x3a, 15: 1}))
	// Output:
	// 8f3a0000-0000-0000-0000-000000000001
}

func ExampleEscape() {
	fmt.Println(keys.Escape("jonesj+home@contoso.com"))
	path := keys.Escape("home/jones_j")
	fmt.Println(path)
	fmt.Printf("%+q\n", path)
	fmt.Println(keys.Unescape(path))
	// Output:
	// jonesj+home@contoso.com
	// home.￮jones^￮j
	// "home.\uffeejones^\uffeej"
	// home/jones_j <nil>
}

func ExampleEscapedPrefix() {
	ann := keys.EscapedPrefix("ann.").Under("email_")
	fmt.Println(ann.Contains("email_" + keys.Escape("ann.lee@contoso.com")))
	fmt.Println(ann.Contains("email_" + keys.Escape("ann/lee@contoso.com")))
	// Output:
	// true
	// false
}

func ExampleLayout() {
	type Review struct {
		ID   int `key:"digits=6"`
		Year int `key:"digits=4"`
	}
	reviews, err := keys.NewLayout[Review](nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reviews.Format(Review{ID: 123, Year: 2012}))
	fmt.Println(reviews.Parse("000123_2012"))
	ofEmployee, err := reviews.Range(Review{ID: 123}, 1)
	fmt.Printf("%q %v\n", ofEmployee, err)
	// Output:
	// 000123_2012 <nil>
	// {123 2012} <nil>
	// {"000123_" "000123`"} <nil>
}

func ExampleLayoutOptions() {
	type ByEmail struct {
		Email string `key:"fold"`
	}
	index, err := keys.NewLayout[ByEmail](&keys.LayoutOptions{Prefix: "email_"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(index.Format(ByEmail{"JonesJ@contoso.com"}))
	all, err := index.Range(ByEmail{}, 0)
	fmt.Printf("%q %v\n", all, err)
	// Output:
	// email_jonesj@contoso.com <nil>
	// {"email_" "email`"} <nil>
}

func ExampleNewLayout_badField() {
	type Attempt struct{ At time.Time }
	_, err := keys.NewLayout[Attempt](nil)
	fmt.Println(err)
	// Output:
	// keys: field At: bad definition: a time.Time requires the tag ticks or invticks
}

func ExampleSpread() {
	hour, err := keys.NewSpread(16)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(hour.Partition("2014073118", "evt00005"))
	all := hour.Partitions("2014073118")
	fmt.Println(len(all), all[0], all[7], all[15])
	// Output:
	// 07_2014073118
	// 16 00_2014073118 07_2014073118 15_2014073118
}
