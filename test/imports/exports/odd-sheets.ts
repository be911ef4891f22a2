import { type Expected, type Export } from "./export.ts"
import { shopify, square, woocommerce } from "./programs.ts"
import { type Table, write } from "./sheet.ts"

const item = (name: string, price: number | null, category = "", more: Partial<Expected> = {}): Expected => ({
  name,
  description: "",
  price,
  category,
  ...more
})

const of = (
  title: string,
  table: Table | string | Uint8Array,
  expected: ReadonlyArray<Expected>,
  warning?: RegExp
): Export => ({
  title,
  ...(warning === undefined ? {} : { warning }),
  bytes: typeof table === "string" ? Buffer.from(table) : table instanceof Uint8Array ? table : write(table),
  expected
})

const three = [item("Soup", 700, "Starters"), item("Steak", 2800, "Mains"), item("Tea", 300, "Drinks")]
const rows = ["Soup,7.00,Starters", "Steak,28.00,Mains", "Tea,3.00,Drinks"]
const header = "Name,Price,Category"

const variant = (
  names: ReadonlyArray<string>,
  cells: ReadonlyArray<string>,
  changes: Readonly<Record<string, string>>
) => names.map((name, at) => changes[name] ?? cells[at] ?? "")
const shirt = { name: "Linen shirt", description: "", price: 4800, category: "Clothing" }

/** Sheets kept by hand, and exports of what has no place in a catalog. */
export const oddSheets: ReadonlyArray<Export> = [
  of("a title above the header", ["Menu of the Copper Ladle,,", ",,", header, ...rows].join("\n"), three),
  of("the header on each page", [header, rows[0], rows[1], header, rows[2]].join("\n"), three),
  of("blank rows between sections", [header, rows[0], "", ",,", rows[1], rows[2]].join("\n"), three),
  of("blank columns at the end", [`${header},,`, ...rows.map((row) => `${row},,`)].join("\n"), three),
  of("spaces after commas", [header, ...rows].join("\n").replaceAll(",", ", "), three),
  of(
    "spaces around quotes",
    `${header}\n"Soup" , 7.00 ,"Starters"\n"Steak" ,28.00, "Mains"\n"Tea",3.00 ,"Drinks"\n`,
    three
  ),
  of("categories in any case", `${header}\nSoup,7.00,Mains\nSteak,28.00,MAINS\nTea,3.00, mains\n`, [
    item("Soup", 700, "Mains"),
    item("Steak", 2800, "Mains"),
    item("Tea", 300, "Mains")
  ]),
  of(
    "prices in words",
    `${header}\nCut,from 65,Hair\nColour,$120-$180,Hair\nLesson,$40/hr,Classes\nWater,Free,Drinks\n`,
    [
      item("Cut", 6500, "Hair", { priceType: "starting_at" }),
      item("Colour", 12_000, "Hair", { priceType: "starting_at" }),
      item("Lesson", 4000, "Classes", { priceType: "hourly" }),
      item("Water", 0, "Drinks")
    ]
  ),
  of("estimates", `${header}\nRoof repair,Free estimate,Roofs\nSite visit,Free,Roofs\nGutters,95+,Roofs\n`, [
    item("Roof repair", null, "Roofs", { priceType: "free_estimate" }),
    item("Site visit", 0, "Roofs", { priceType: "free_estimate" }),
    item("Gutters", 9500, "Roofs", { priceType: "starting_at" })
  ]),
  of("market prices", `${header}\nLobster,Market price,Mains\nOysters,MP,Starters\n${rows[2]}\n`, [
    item("Lobster", null, "Mains"),
    item("Oysters", null, "Starters"),
    item("Tea", 300, "Drinks")
  ]),
  of(
    "one stray byte",
    Buffer.concat([
      Buffer.from(`${header}\nCrème brûlée,9,Süßes\nJalape`),
      Buffer.of(0xf1),
      Buffer.from("os,6,Süßes\n")
    ]),
    [item("Crème brûlée", 900, "Süßes"), item("Jalapeños", 600, "Süßes")],
    /^row 3: name "Jalape�os" /
  ),
  of("a total below", [header, ...rows, "Total,38.00,"].join("\n"), three, /^row 5, "Total": /),
  of("headings of sections", `${header}\nSTARTERS,,\nSoup,7.00,\nMAINS,,\nSteak,28.00,\n`, [
    item("Soup", 700, "STARTERS"),
    item("Steak", 2800, "MAINS")
  ], /^row 2, "STARTERS": /),
  of("another currency", `${header}\nSoup,€7.00,Starters\nSteak,28.00,Mains\n`, [
    item("Soup", null, "Starters"),
    item("Steak", 2800, "Mains")
  ]),
  of(
    "Shopify, a product in two sizes",
    [
      shopify.header,
      variant(shopify.header, shopify.row(shirt, 0), { "Option1 Name": "Size", "Option1 Value": "S" }),
      variant(shopify.header, shopify.row(shirt, 1), { "Title": "", "Type": "", "Option1 Value": "L" })
    ],
    [item("Linen shirt, S", 4800, "Clothing"), item("Linen shirt, L", 4800, "Clothing")]
  ),
  of(
    "Shopify, a product in two sizes at two prices",
    [
      shopify.header,
      variant(shopify.header, shopify.row(shirt, 0), { "Option1 Name": "Size", "Option1 Value": "S" }),
      variant(shopify.header, shopify.row({ ...shirt, price: 5400 }, 1), { "Title": "", "Option1 Value": "XXL" })
    ],
    [item("Linen shirt, S", 4800, "Clothing"), item("Linen shirt, XXL", 5400, "Clothing")]
  ),
  of(
    "Shopify, a draft",
    [
      shopify.header,
      shopify.row(shirt, 0),
      variant(shopify.header, shopify.row({ ...shirt, name: "Not yet" }, 1), { Status: "draft" })
    ],
    [item("Linen shirt", 4800, "Clothing")]
  ),
  of(
    "Square, an item in two sizes",
    [
      square.header,
      variant(square.header, square.row({ ...shirt, name: "Latte", price: 350 }, 0), { "Variation Name": "Small" }),
      variant(square.header, square.row({ ...shirt, name: "Latte", price: 450 }, 1), { "Variation Name": "Large" })
    ],
    [item("Latte, Small", 350, "Clothing"), item("Latte, Large", 450, "Clothing")],
    /^row 3 has the name of row 2, "Latte"/
  ),
  of(
    "WooCommerce, a product with its variations",
    [
      woocommerce.header,
      variant(woocommerce.header, woocommerce.row({ ...shirt, price: null }, 0), { Type: "variable" }),
      variant(woocommerce.header, woocommerce.row({ ...shirt, name: "Linen shirt - S" }, 1), { Type: "variation" }),
      variant(woocommerce.header, woocommerce.row({ ...shirt, name: "Linen shirt - L" }, 2), { Type: "variation" })
    ],
    [
      item("Linen shirt", null, "Clothing"),
      item("Linen shirt - S", 4800, "Clothing"),
      item("Linen shirt - L", 4800, "Clothing")
    ]
  )
]
