/** What a shop pays for an item, in the words of its programs. `standard price` is Odoo's name for it. */
const phrases = new Set(["standard price", "ek", "ek netto", "ek brutto", "map cost"])
const words = new Set([
  ...["cost", "costs", "cogs", "wholesale", "wholesaler", "purchase", "purchasing", "supply", "supplier", "suppliers"],
  ...["buy", "buying", "acquisition", "dealer", "dealers", "trade", "vendor", "vendors", "reseller", "resellers"],
  ...["distributor", "distributors", "factory", "manufacturer", "fob", "landed", "ek"],
  ...["coste", "costes", "compra", "compras", "proveedor", "mayorista", "mayoreo"],
  ...["costo", "costi", "acquisto", "acquisti", "fornitore", "ingrosso", "rivenditore"],
  ...["custo", "custos", "fornecedor", "atacado", "revenda", "coût", "coûts", "cout", "couts", "achat", "achats"],
  ...["revient", "gros", "grossiste", "fournisseur", "revendeur", "zakup"],
  ...["zakupu", "koszt", "hurt", "hurtowa", "dostawcy"],
  ...["maliyet", "maliyeti", "alış", "alis", "toptan", "tedarikçi", "kostnad", "kustannus", "tukku", "tukkuhinta"],
  ...["κόστος", "αγοράς", "χονδρικής", "προμηθευτή", "التكلفة", "الشراء"],
  ...["الجملة", "المورد", "עלות", "קנייה", "סיטונאי"],
  ...["vốn", "nhập", "sỉ", "önköltség", "nagyker", "собівартість", "kostur", "nákladová", "nákupní", "velkoobchodní"],
  ...["dodavatel", "dodavatele", "beszerzési", "beszerzesi", "beszállítói", "furnizor", "achiziție", "angros", "grosir"]
])
/** Parts of compounds, and of languages that write no spaces. */
const parts = new RegExp(
  [
    ...["einkauf", "ankauf", "einstand", "selbstkost", "bezugspreis", "lieferant", "händler", "haendler"],
    ...["großhandel", "grosshandel", "inkoop", "groothandel", "leverancier"],
    ...["kostpr", "kostenpr", "indkøb", "innkjøp", "inköp"],
    ...["ostohin", "engros", "grossist", "leverand", "leverant", "закуп", "себестоим", "оптов", "поставщик"],
    ...["постачальн", "原価", "仕入", "卸", "成本", "进价", "进货", "進價"],
    ...["批发", "批發", "供应商", "원가", "매입", "도매", "ทุน", "ขายส่ง"]
  ].join("|"),
  "u"
)

/** Whether a plain header names what the shop pays, which is never what its customers pay. */
export const isCost = (plain: string) =>
  phrases.has(plain) || parts.test(plain) || plain.split(" ").some((word) => words.has(word))
