package tpch

// The lists of TPC-H 4.2.2.13 that queries name values of.
var (
	regions = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}

	nations = []struct {
		name   string
		region int
	}{
		{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3},
		{"INDIA", 2}, {"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0},
		{"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3},
		{"UNITED KINGDOM", 3}, {"UNITED STATES", 1},
	}

	segments       = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"}
	priorities     = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	instructions   = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes          = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	typeSizes      = []string{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"}
	typeFinishes   = []string{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"}
	typeMetals     = []string{"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"}
	containerSizes = []string{"SM", "LG", "MED", "JUMBO", "WRAP"}
	containerKinds = []string{"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"}
)

// colors make the names of parts. Queries look for green and forest.
var colors = []string{
	"amber", "azure", "beige", "black", "blue", "brown", "coral", "cream", "cyan", "forest", "gold", "green", "grey", "indigo", "ivory",
	"khaki", "lavender", "lemon", "lilac", "lime", "linen", "maroon", "mint", "navy", "olive", "orange", "orchid", "peach", "pink", "plum",
	"purple", "red", "rose", "ruby", "rust", "salmon", "sand", "silver", "sky", "slate", "snow", "steel", "tan", "teal", "tomato", "violet",
	"white", "yellow",
}

// vocabulary makes comments. Query 13 looks for special … requests.
var vocabulary = []string{
	"accounts", "across", "after", "along", "always", "among", "bold", "boxes", "busy", "calm", "careful", "daring", "deposits", "even",
	"express", "final", "fluffy", "foxes", "furious", "ideas", "ironic", "never", "packages", "pending", "pinto", "quick", "quiet", "regular",
	"requests", "sleep", "slow", "special", "theories", "thin", "under", "until", "unusual", "wake", "warm", "weary",
}
