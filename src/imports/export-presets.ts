import { type ItemField } from "./fields.ts"
import { plainHeader } from "./header-words.ts"

/** How to recognise a program's export, and which of its columns hold which field. Headers as `plainHeader` has them. */
export interface ExportPreset {
  readonly program: string
  /** Alternatives, one for each version of the export: all headers of one are in the file. */
  readonly signatures: ReadonlyArray<ReadonlyArray<string>>
  /** The columns of a field, the best first; versions of the export call them differently. */
  readonly fields: Readonly<Partial<Record<ItemField, ReadonlyArray<string>>>>
  /** The column that tells the forms of an item apart. */
  readonly variation?: string
  /** Columns that are called like a field and hold something else. */
  readonly others?: ReadonlyArray<string>
}

/** The most specific first. */
const presets: ReadonlyArray<ExportPreset> = [
  {
    program: "PrestaShop",
    signatures: [["price tax excluded or price tax included"], ["tax rules id", "wholesale price"]],
    fields: {
      name: ["name"],
      description: ["description", "short description"],
      price: ["price tax excluded or price tax included", "price tax excluded", "price tax included"],
      category: ["categories x y z"]
    }
  },
  {
    program: "Odoo",
    signatures: [["internal reference", "product type"], ["internal reference", "sales price"], [
      "default code",
      "list price"
    ]],
    fields: {
      price: ["sales price", "verkaufspreis", "public price", "list price", "lst price"],
      category: ["pos category", "pos categories", "website product category", "product category"]
    },
    others: ["product type", "detailed type"]
  },
  {
    program: "Shopify",
    signatures: [["handle", "title", "variant price"], ["url handle", "title", "price"], [
      "handle",
      "title",
      "body html"
    ]],
    fields: {
      name: ["title"],
      description: ["body html", "description"],
      price: ["variant price", "price"],
      category: ["type", "product category"]
    }
  },
  {
    program: "Square",
    signatures: [["token", "item name", "variation name"], ["reference handle", "item name", "variation name"]],
    fields: {
      name: ["item name", "customer facing name"],
      description: ["description"],
      price: ["price", "online sale price"],
      category: ["categories", "category", "reporting category"]
    },
    variation: "variation name"
  },
  {
    program: "WooCommerce",
    signatures: [["name", "regular price", "categories"], ["name", "regular price", "visibility in catalog"]],
    fields: {
      name: ["name"],
      description: ["description", "short description"],
      price: ["regular price", "sale price"],
      category: ["categories"]
    }
  },
  {
    program: "Clover",
    signatures: [["clover id", "name"], ["name", "alternate name", "price", "price type"]],
    fields: {
      name: ["name"],
      price: ["price"],
      price_type: ["price type"],
      category: ["category", "categories", "category name", "labels"]
    }
  },
  {
    program: "Lightspeed",
    signatures: [
      ["retail price", "supply price"],
      ["handle", "sku", "retail price"],
      [
        "system id",
        "item",
        "price"
      ],
      ["system id", "item", "default price"],
      ["internal id", "us title short"]
    ],
    fields: {
      name: ["name", "item", "composite name", "us title short"],
      description: ["description", "us description short", "long description"],
      price: ["retail price", "price", "default price", "msrp"],
      category: ["product category", "category", "type", "product type", "us category 1"]
    }
  },
  {
    program: "Google Merchant",
    signatures: [["title", "link", "price", "availability"], ["title", "link", "image link", "price"], [
      "title",
      "price",
      "google product category"
    ]],
    fields: {
      name: ["title"],
      description: ["description"],
      price: ["price", "sale price"],
      category: ["product type", "google product category"]
    }
  },
  {
    program: "Etsy",
    signatures: [["title", "price", "currency code", "quantity"], ["title", "materials", "image1"], [
      "title",
      "materials",
      "image 1"
    ]],
    fields: { name: ["title"], description: ["description"], price: ["price"], category: ["section", "shop section"] }
  },
  {
    program: "Toast",
    signatures: [["menu item", "menu group"], ["item name", "menu group"], ["item name", "menu group name"], [
      "menu item",
      "menu name"
    ], ["name", "menu group", "base price"]],
    fields: {
      name: ["menu item", "item name", "name"],
      description: ["item description", "menu item description", "description"],
      price: ["base price", "price", "item price", "avg price", "gross price"],
      category: ["menu group", "menu group name", "menu subgroup", "subgroup", "sales category"]
    }
  },
  {
    program: "Uber Eats",
    signatures: [
      ["menu", "category", "item"],
      ["menu name", "category name", "item name"],
      [
        "menu title",
        "category title",
        "item title"
      ],
      ["category name", "item name", "item price"],
      ["item id", "item name", "tax rate"],
      [
        "item external id",
        "item title"
      ]
    ],
    fields: {
      name: ["item name", "item title", "item", "product name", "title"],
      description: ["item description", "description"],
      price: ["item price", "price", "delivery price", "default price"],
      category: ["category name", "category title", "category", "subcategory", "section"]
    }
  },
  {
    program: "Vagaro",
    signatures: [["service name", "service category"], ["service name", "duration"], ["service title", "duration"], [
      "service name",
      "category",
      "price"
    ], ["service title", "service category"]],
    fields: {
      name: ["service name", "service title"],
      description: ["service description", "description"],
      price: ["price", "service price", "base price", "retail price"],
      category: ["service category", "category", "category name"]
    }
  }
]

/** The program that wrote a file with these headers; undefined when no preset fits. */
export const recognisePreset = (headers: ReadonlyArray<string>): ExportPreset | undefined => {
  const present = new Set(headers.map(plainHeader))
  return presets.find(({ signatures }) => signatures.some((names) => names.every((name) => present.has(name))))
}
