/** What a shop pays for an item, in the words of its programs. `standard price` is Odoo's name for it. */
const phrases = new Set(["standard price", "ek", "ek netto", "ek brutto", "map cost"])
const words = new Set([
  ...["cost", "costs", "cogs", "wholesale", "purchase", "purchasing", "supply", "supplier", "buying", "acquisition"],
  ...["ek", "einkauf", "coste", "costes", "costo", "costi", "compra", "compras", "acquisto", "acquisti", "custo"],
  ...["custos", "coût", "coûts", "cout", "couts", "achat", "achats", "revient", "grossiste", "ingrosso", "mayorista"],
  ...["zakup", "zakupu", "koszt", "maliyet", "maliyeti", "alış", "kostnad", "kustannus", "κόστος", "αγοράς"],
  ...[
    "التكلفة",
    "الشراء",
    "עלות",
    "קנייה",
    "vốn",
    "nhập",
    "alis",
    "önköltség",
    "собівартість",
    "kostur",
    "nákladová",
    "nákupní",
    "beszerzési",
    "beszerzesi"
  ]
])
/** Beginnings of compounds, and words of languages that write none between. */
const parts =
  /^(?:einkauf|einstand|selbstkost|großhandel|inkoop|kostpr|kostenpr|indkøb|innkjøp|inköp|ostohin)|закуп|себестоим|原価|仕入|成本|进价|进货|進價|원가|매입|ทุน/u

/** Whether a plain header names what the shop pays, which is never what its customers pay. */
export const isCost = (plain: string) =>
  phrases.has(plain) || plain.split(" ").some((word) => words.has(word) || parts.test(word))
