package clickbench

import "strings"

// Column is a column of the table. None is NULL.
type Column struct {
	Name string
	Type string // as Postgres spells it; DuckDB reads it too
}

// Columns returns the table's columns in order.
func Columns() []Column {
	var list []Column
	for _, field := range strings.Fields(shape) {
		name, letter, _ := strings.Cut(field, ":")
		list = append(list, Column{name, types[letter]})
	}
	return list
}

// Definition returns the columns with their types, separated by commas; each is followed by more.
func Definition(more string) string {
	var parts []string
	for _, c := range Columns() {
		parts = append(parts, c.Name+" "+c.Type+more)
	}
	return strings.Join(parts, ", ")
}

var types = map[string]string{"s": "smallint", "i": "integer", "b": "bigint", "t": "text", "d": "date", "z": "timestamp", "c": "char(1)"}

// shape lists the columns with a letter for the type.
const shape = `
watchid:b javaenable:s title:t goodevent:s eventtime:z eventdate:d counterid:i clientip:i regionid:i userid:b counterclass:s os:s
useragent:s url:t referer:t isrefresh:s referercategoryid:s refererregionid:i urlcategoryid:s urlregionid:i resolutionwidth:s
resolutionheight:s resolutiondepth:s flashmajor:s flashminor:s flashminor2:t netmajor:s netminor:s useragentmajor:s useragentminor:t
cookieenable:s javascriptenable:s ismobile:s mobilephone:s mobilephonemodel:t params:t ipnetworkid:i traficsourceid:s
searchengineid:s searchphrase:t advengineid:s isartifical:s windowclientwidth:s windowclientheight:s clienttimezone:s
clienteventtime:z silverlightversion1:s silverlightversion2:s silverlightversion3:i silverlightversion4:s pagecharset:t
codeversion:i islink:s isdownload:s isnotbounce:s funiqid:b originalurl:t hid:i isoldcounter:s isevent:s isparameter:s
dontcounthits:s withhash:s hitcolor:c localeventtime:z age:s sex:s income:s interests:s robotness:s remoteip:i windowname:i
openername:i historylength:s browserlanguage:t browsercountry:t socialnetwork:t socialaction:t httperror:s sendtiming:i
dnstiming:i connecttiming:i responsestarttiming:i responseendtiming:i fetchtiming:i socialsourcenetworkid:s socialsourcepage:t
paramprice:b paramorderid:t paramcurrency:t paramcurrencyid:s openstatservicename:t openstatcampaignid:t openstatadid:t
openstatsourceid:t utmsource:t utmmedium:t utmcampaign:t utmcontent:t utmterm:t fromtag:t hasgclid:s refererhash:b urlhash:b
clid:i`
