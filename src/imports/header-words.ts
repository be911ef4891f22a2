import { Record } from "effect"
import { categoryRank } from "./category-columns.ts"
import { isCost } from "./cost-words.ts"
import { type ItemField } from "./fields.ts"
import { isNameCompound, withoutAccents, withoutLanguage, worldWords } from "./world-words.ts"

/** Currency words of a header, which say nothing about the field. */
const currencies = new Set(["usd", "us", "us$", "dollar", "dollars", "$", "in"])
/** Words of currencies that a catalog can't have. Not pounds: `price per pound` is a weight. */
const foreignCurrencies = new Set([
  ...["eur", "euro", "euros", "gbp", "sterling", "cad", "aud", "nzd", "chf", "jpy", "yen", "cny", "rmb", "krw", "inr"],
  ...["mxn", "brl", "sek", "nok", "dkk", "kr", "pln", "zł", "czk", "kč", "huf", "ron", "bgn", "rub", "uah", "ils"],
  ...["sgd", "hkd", "twd", "thb", "php", "idr", "myr", "vnd", "zar", "aed", "sar", "clp", "cop", "ars", "rupees"],
  ...["tl", "try", "lei", "ft", "руб", "грн", "лв", "บาท", "円", "元", "원", "đồng"],
  ...["c$", "ca$", "a$", "au$", "nz$", "hk$", "s$", "r$", "mx$", "nt$"]
])

/** `Item Name`, `item_name` and `itemName` are the same: words in lower case, one space apart. */
export const plainHeader = (name: string) =>
  name.slice(0, 200).replace(/([\p{Ll}\d])(?=\p{Lu})/gu, "$1 ").toLowerCase().replace(
    /[^\p{L}\p{M}\p{N}\p{Sc}]+/gu,
    " "
  )
    .trim()

/** `Price (EUR)`, `Price €`: amounts that are not in US dollars. */
export const isForeignMoney = (plain: string) =>
  /(?![$¢])\p{Sc}/u.test(plain) || plain.split(" ").some((word) => foreignCurrencies.has(word))

/** `Price (USD)` and `price_usd` are `price`. */
const withoutCurrency = (plain: string) => plain.split(" ").filter((word) => !currencies.has(word)).join(" ")

/** What programs and people call the fields of an import, the likeliest first. */
const synonyms: Readonly<Record<ItemField, ReadonlyArray<string>>> = {
  name: [
    ...["name", "title", "item name", "product name", "service name", "item title", "product title", "service title"],
    ...[
      "menu item",
      "menu item name",
      "dish name",
      "treatment name",
      "item",
      "product",
      "service",
      "dish",
      "treatment"
    ],
    ...["article", "nombre", "nom", "bezeichnung", "artikel", "artikelname", "producto", "produit", "produkt", "nome"],
    ...["titel", "titre", "titolo", "título", "naam", "商品名", "名称", "название"]
  ],
  description: [
    ...["description", "item description", "product description", "service description", "menu item description"],
    ...["long description", "full description", "short description", "desc", "body html", "body", "details", "detail"],
    ...["summary", "about", "text", "beschreibung", "descripción", "descripcion", "descrizione", "descrição"],
    ...["omschrijving", "描述", "説明", "описание"]
  ],
  price: [
    ...["price", "regular price", "retail price", "base price", "unit price", "list price", "selling price"],
    ...["sell price", "item price", "menu price", "product price", "service price", "variant price", "default price"],
    ...[
      "full price",
      "starting price",
      "sales price",
      "public price",
      "verkaufspreis",
      "vk",
      "prices",
      "preis",
      "precio",
      "prix",
      "prezzo",
      "preço"
    ],
    ...["preco", "prijs", "pris", "cena", "цена", "价格", "価格", "가격", "sale price", "msrp", "rrp", "rate", "fee"],
    ...[
      "amount",
      "charge",
      "usd",
      "$",
      "dollars",
      "retail",
      "uvp",
      "vk brutto",
      "vk preis",
      "ladenpreis",
      "listino",
      "tarif",
      "tarifa"
    ]
  ],
  price_type: ["price type", "pricing type", "price kind", "pricing model", "price model", "charge type"],
  item_type: ["item type", "item kind", "kind", "kind of item", "offer type"],
  category: [
    ...["category", "categories", "category name", "item category", "menu category", "product category"],
    ...["service category", "menu section", "section", "section name", "menu group", "menu group name", "group"],
    ...["item group", "product type", "department", "collection", "course", "family", "reporting category"],
    ...["dept", "dept name", "department name"],
    ...["kategorie", "kategorien", "catégorie", "categoría", "categoria", "categorie", "rubrik", "分类", "カテゴリ"],
    ...["категория"]
  ]
}

/** Words of headers with `price` that hold something else, or a price that customers don't pay. */
const notThePrice = new Set([
  ...["type", "kind", "unit", "units", "model", "label", "compare", "old", "was", "previous", "show", "streichpreis"],
  ...[
    "shipping",
    "versandpreis",
    "deposit",
    "date",
    "starts",
    "ends",
    "start",
    "end",
    "category",
    "currency",
    "id",
    "tier",
    "rule",
    "level"
  ],
  ...["visibility", "modifier", "book", "history", "per", "unity", "measure", "tax", "code", "group", "note", "notes"]
])
const priceWords = new Set(["price", "prices", "preis", "precio", "prix", "prezzo", "preço", "preco", "prijs", "цена"])
/** Words of German and Dutch are joined: `Bruttopreis`, `Verkoopprijs`. */
export const isPriceWord = (word: string) => priceWords.has(word) || /.(?:preis|prijs)$/.test(word)

/** `Price (excl. tax)` is a price; `Price tax rule` and `Tax price code` are not. */
const withoutTax =
  /\b(?:tax|vat|mwst|ust|iva|tva|btw) (?:excluded|included|excl|incl|ex|inc|exclusive|inclusive|free)\b|\b(?:excluded|included|excl|incl|excluding|including|ex|inc|exkl|inkl|without|with|before|after|plus|zzgl|sin|con|hors|ht) (?:tax|taxes|vat|mwst|ust|iva|tva|btw)\b/gu

const ranks = Record.map(synonyms, (words, field) => [...words, ...worldWords[field]].map(withoutAccents))

/** Place in the list of the field's synonyms, or after them; undefined when the header is none of them. */
const rankOf = (field: ItemField, plain: string) => {
  const names = ranks[field]
  const spelled = [plain, withoutCurrency(plain), withoutLanguage(plain), withoutCurrency(withoutLanguage(plain))]
  const place = spelled.map((words) => names.indexOf(withoutAccents(words))).find((at) => at >= 0)
  return place ?? (field === "name" && isNameCompound(withoutLanguage(plain)) ? names.length : undefined)
}

/** What is taken off a price. */
export const discounts = /\b(?:discount|rabatt|descuento|sconto|remise|réduction|desconto|korting)\b/u
const surcharges =
  /^(?:surcharges?|upcharges?|\p{L}*(?:aufpreise?|aufschlag|zuschlag|toeslag|meerprijs)|recargos?|sobreprecios?|sovrapprezz[oi]|suppléments?|supplement[oi]|suplementos?|acréscimos?|наценка|доплата)$/u

/** Whether a plain header names what is added to a price, which never is one. */
export const isSurcharge = (plain: string) => plain.split(" ").some((word) => surcharges.test(word))

/**
 * How well a plain header fits a field, smaller is better; undefined when it doesn't. Any other header with the word price
 * (`Price small`, `Online price`) is a price after the synonyms, shorter ones first; none in another currency is.
 */
export const fitOf = (field: ItemField, plain: string): number | undefined => {
  if (field === "price" && (isForeignMoney(plain) || isCost(plain) || isSurcharge(plain))) return undefined
  const rank = rankOf(field, plain)
  if (rank === undefined && field === "category") {
    const place = categoryRank(plain)
    return place === undefined ? undefined : synonyms.category.length + place
  }
  if (rank !== undefined || field !== "price") return rank
  const words = plain.replace(withoutTax, " ").split(" ")
  const isPrice = words.some(isPriceWord) && !words.some((word) => notThePrice.has(word))
  return isPrice ? synonyms.price.length + words.length : undefined
}

/** `price cents`, `price in cents`: whole cents. */
export const isCents = (plain: string) => {
  const words = plain.split(" ")
  return words.includes("cents") && (words.length === 1 || words.some(isPriceWord))
}

const dollars = /^(?:US)?\$\s*\d|^\d[\d.,]*\s*\$$|^USD\s*\d|^\d[\d.,]*\s*USD$/
const foreignMoney = /^(?![$¢])\p{Sc}\s*\d|^\d[\d.,]*\s*(?![$¢])\p{Sc}$|^(?:EUR|GBP)\s*\d|^\d[\d.,]*\s*(?:EUR|GBP)$/u

/** Whether at least half of the cells that are filled in are of this kind. */
const mostAre = (kind: RegExp) => (cells: ReadonlyArray<string>) => {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "")
  return filled.length > 0 && filled.filter((cell) => kind.test(cell)).length * 2 >= filled.length
}

/** Whether a column has amounts with the dollar's mark. */
export const looksLikeMoney = mostAre(dollars)
/** Whether a column has amounts with another currency's mark. */
const looksForeign = mostAre(foreignMoney)

const sizes = new Set([
  ...["small", "medium", "large", "regular", "mini", "half", "full", "whole", "single", "double", "glass", "bottle"],
  ...["pint", "cup", "bowl", "slice", "kids", "child", "adult", "lunch", "dinner", "s", "m", "l", "xl"]
])
const areAmounts = mostAre(/^\d+(?:\.\d{1,2})?$/)

/** Whether a column has the prices of a size: `Large`, with `4.50`. Whole numbers alone may be a stock. */
export const isPriceOfSize = (plain: string, cells: ReadonlyArray<string>) =>
  sizes.has(plain) && areAmounts(cells) && cells.some((cell) => cell.includes("."))

/** What a column that is not imported has prices in, by its name or its cells; undefined when it has none. */
export const priceKind = (plain: string, cells: ReadonlyArray<string>): "dollars" | "foreign" | undefined => {
  const words = plain.replace(withoutTax, " ").split(" ").filter((word) => !currencies.has(word))
  if (isCost(plain) || isSurcharge(plain) || plain !== "unit price" && words.some((word) => notThePrice.has(word))) {
    return undefined
  }
  const isNamed = words.some(isPriceWord)
  const isCurrency = words.every((word) => foreignCurrencies.has(word))
  if (isForeignMoney(plain) && (isNamed || isCurrency) || looksForeign(cells)) return "foreign"
  return isNamed || isCents(plain) || looksLikeMoney(cells) || isPriceOfSize(plain, cells) ? "dollars" : undefined
}
