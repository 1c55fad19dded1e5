package clickbench

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
	"time"
)

// july is the month that most queries ask for.
var july = time.Date(2013, 7, 1, 0, 0, 0, 0, time.UTC)

var (
	phrases = []string{"", "", "", "", "cheap flights", "weather tomorrow", "buy shoes online", "train times", "recipe for bread", "used cars"}
	models  = []string{"", "", "", "iPhone 4", "iPad", "Galaxy S", "Lumia 520"}
	hosts   = []string{"http://example.com/", "https://www.example.org/", "http://google.com/search/", "https://news.example.net/", "http://shop.example/"}
	titles  = []string{"Home", "News of the day", "Google results", "Shoes and more", "Timetable", ""}
)

// hash values that queries 40 to 42 look for.
const (
	refererHash = 3594120000172545465
	urlHash     = 2868770270353813622
)

// fields makes the values that queries look at; all other columns are small random numbers, or empty.
func fields(r *rand.Rand) map[string]string {
	at := july.Add(time.Duration(r.IntN(31*24*60*60)) * time.Second)
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	number := func(n int) string { return strconv.Itoa(r.IntN(n)) }
	either := func(likely, other string) string {
		if r.IntN(3) > 0 {
			return likely
		}
		return other
	}
	url, referer := pick(hosts)+"page/"+number(200), ""
	if r.IntN(3) > 0 {
		referer = pick(hosts) + "from/" + number(50)
	}
	return map[string]string{
		"watchid": strconv.FormatInt(r.Int64(), 10), "title": pick(titles), "eventtime": at.Format(time.DateTime), "eventdate": at.Format(time.DateOnly),
		"counterid": either("62", number(100)), "regionid": number(40), "userid": strconv.Itoa(1_000_000_000_000 + r.IntN(400)*7919), "url": url,
		"referer": referer, "isrefresh": either("0", "1"), "resolutionwidth": strconv.Itoa(800 + 160*r.IntN(8)), "mobilephone": number(5),
		"mobilephonemodel": pick(models), "traficsourceid": strconv.Itoa(r.IntN(8) - 1), "searchengineid": number(4), "searchphrase": pick(phrases),
		"advengineid": either("0", number(30)), "windowclientwidth": number(3), "windowclientheight": number(3), "islink": either("0", "1"),
		"isdownload": either("0", "1"), "dontcounthits": either("0", "1"), "clientip": strconv.Itoa(r.IntN(1000) * 65_537),
		"refererhash": either(strconv.Itoa(refererHash), number(1000)), "urlhash": either(strconv.Itoa(urlHash), number(1000)),
		"clienteventtime": at.Format(time.DateTime), "localeventtime": at.Format(time.DateTime), "hitcolor": pick([]string{"T", "5", "g"}),
	}
}

// Write writes n rows, one a line, fields separated by tabs, which with backslashes and quotes are in none: Postgres reads
// it as COPY does by default. Memory does not grow with n.
func Write(w io.Writer, n int) error {
	out := bufio.NewWriterSize(w, 1<<18)
	columns := Columns()
	for row := range n {
		r := rand.New(rand.NewPCG(43, uint64(row)))
		known := fields(r)
		for i, c := range columns {
			if i > 0 {
				_ = out.WriteByte('\t')
			}
			value, ok := known[c.Name]
			if !ok && c.Type != "text" {
				value = strconv.Itoa(r.IntN(3))
			}
			_, _ = out.WriteString(value)
		}
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}
