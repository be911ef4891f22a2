import { type Article, bistro, boutique, kitchens, type Owner, salon } from "./catalogs.ts"
import { type Export } from "./export.ts"
import { oddSheets } from "./odd-sheets.ts"
import * as programs from "./programs.ts"
import { dollars, type Program, sheet } from "./programs.ts"
import { write, type Writing } from "./sheet.ts"

const exportOf = (program: Program, { articles, who }: Owner, how: string, writing: Writing = {}): Export => ({
  title: `${program.program}, ${who}, ${how}`,
  bytes: write([program.header, ...articles.map(program.row)], writing),
  expected: articles.map((article) => ({
    ...article,
    ...(program.lacks.includes("category") ? { category: "" } : {}),
    ...(program.lacks.includes("description") ? { description: "" } : {})
  }))
})

const excel: Writing = { end: "\r\n" }
const { bigCommerce, clover, etsy, googleMerchant, lightspeed, shopify, square } = programs
const { toast, uberEats, vagaro, wix, woocommerce } = programs
const all = [
  ...[bigCommerce, clover, etsy, googleMerchant, lightspeed, shopify, square],
  ...[toast, uberEats, vagaro, wix, woocommerce]
]

const ofPrograms = all.flatMap((program) => [
  exportOf(program, bistro, "as exported"),
  exportOf(program, boutique, "as exported", { end: "\r\n", quotes: "all" }),
  exportOf(program, salon, "with a mark", { before: "\ufeff", end: "\r\n" }),
  exportOf(program, bistro, "saved by Excel as CSV", { ...excel, encoding: "windows-1252" }),
  exportOf(program, boutique, "saved by Excel as Unicode text", { ...excel, delimiter: "\t", encoding: "utf-16le" })
])

const commas = (cents: number | null) => dollars(cents).replace(".", ",")
const german = (cents: number | null) => commas(cents).replace(/(\d)(?=(\d{3})+,)/g, "$1.")
const french = (cents: number | null) => commas(cents).replace(/(\d)(?=(\d{3})+,)/g, "$1\u202f")
const english = (cents: number | null) => `$${dollars(cents).replace(/(\d)(?=(\d{3})+\.)/g, "$1,")}`

/** An export that was opened in Excel where cents follow a comma, and saved. */
const resaved = [lightspeed, shopify, square, toast, woocommerce].map((program): Export => {
  const cells = (article: Article, at: number) =>
    program.row(article, at).map((cell) => /^\d+\.\d\d$/.test(cell) ? cell.replace(".", ",") : cell)
  return exportOf({ ...program, row: cells }, boutique, "saved by a German Excel", { ...excel, delimiter: ";" })
})

const headings = {
  german: { name: "Bezeichnung", description: "Beschreibung", price: "Preis", category: "Kategorie" },
  french: { name: "Nom", description: "Description", price: "Prix", category: "Catégorie" },
  russian: { name: "Название", description: "Описание", price: "Цена", category: "Категория" },
  japanese: { name: "商品名", description: "説明", price: "価格", category: "カテゴリ" },
  chinese: { name: "名称", description: "描述", price: "价格", category: "分类" },
  english: undefined
} as const

const ofSpreadsheets = ([
  ["german", headings.german, german, { ...excel, delimiter: ";", encoding: "windows-1252" }],
  ["german", headings.english, german, { delimiter: ";", encoding: "macintosh" }],
  ["german", headings.german, german, { ...excel, delimiter: ";", before: "\ufeff" }],
  ["german", headings.german, german, { quotes: "all" }],
  ["german", headings.english, german, excel],
  ["german", headings.german, (cents) => `${german(cents)} $`, { delimiter: ";", before: "sep=;\n" }],
  ["french", headings.french, french, { ...excel, delimiter: ";" }],
  ["french", headings.french, commas, { ...excel, delimiter: ";", encoding: "windows-1252" }],
  ["french", headings.english, commas, { delimiter: ";", encoding: "macintosh" }],
  ["polish", headings.english, commas, { ...excel, delimiter: ";", encoding: "windows-1250" }],
  ["polish", headings.english, dollars, { encoding: "iso-8859-2" }],
  ["russian", headings.russian, commas, { ...excel, delimiter: ";", encoding: "windows-1251" }],
  ["russian", headings.english, dollars, { encoding: "koi8-r" }],
  ["russian", headings.english, dollars, { delimiter: ";", encoding: "x-mac-cyrillic" }],
  ["japanese", headings.japanese, dollars, { ...excel, encoding: "shift_jis" }],
  ["japanese", headings.english, english, { encoding: "euc-jp", quotes: "all" }],
  ["chinese", headings.chinese, dollars, { ...excel, encoding: "gbk" }],
  ["chinese", headings.english, dollars, { ...excel, delimiter: "\t", encoding: "utf-16le" }]
] as const satisfies ReadonlyArray<
  readonly [
    keyof typeof kitchens,
    typeof headings[keyof typeof headings],
    (cents: number | null) => string,
    Writing
  ]
>).map(([kitchen, headings, price, writing]) =>
  exportOf(sheet(headings, price), kitchens[kitchen], JSON.stringify(writing), writing)
)

const plain = [
  exportOf(sheet(), bistro, "Google Sheets", { end: "\r\n" }),
  exportOf(sheet(undefined, english), boutique, "Google Sheets, as currency", { end: "\r\n" }),
  exportOf(sheet(undefined, (cents) => `USD ${dollars(cents)}`), salon, "LibreOffice, bars", { delimiter: "|" }),
  exportOf(sheet(undefined, (cents) => `="${dollars(cents)}"`), salon, "prices as formulas", { quotes: "all" }),
  exportOf(
    sheet({ name: "Dish name", description: "Details", price: "Price (USD)", category: "Menu section" }),
    bistro,
    "own headings"
  )
]

/** About a hundred exports, each with the catalog that its owner would expect. */
export const corpus: ReadonlyArray<Export> = [...ofPrograms, ...resaved, ...ofSpreadsheets, ...plain, ...oddSheets]
