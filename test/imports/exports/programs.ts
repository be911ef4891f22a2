import { type Article } from "./catalogs.ts"

/** The export of a program: its columns, as its help pages document them, and a row of cells for each article. */
export interface Program {
  readonly program: string
  readonly header: ReadonlyArray<string>
  readonly row: (article: Article, at: number) => ReadonlyArray<string>
  /** What it does not export. */
  readonly lacks: ReadonlyArray<"description" | "category">
}

export const dollars = (cents: number | null) => cents === null ? "" : (cents / 100).toFixed(2)
const handle = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-")
const html = (text: string) => text === "" ? "" : `<p>${text.replaceAll("&", "&amp;").replaceAll("\n", "<br>")}</p>`
const id = (at: number) => `${4_100_200 + 17 * at}`

/** A program whose header and cells are written side by side, so that none gets out of step. */
const program = (
  name: string,
  cells: (article: Article, at: number) => Readonly<Record<string, string>>,
  lacks: Program["lacks"] = []
): Program => ({
  program: name,
  lacks,
  header: Object.keys(cells({ name: "", description: "", price: null, category: "" }, 0)),
  row: (article, at) => Object.values(cells(article, at))
})

export const square = program("Square", ({ category, description, name, price }, at) => ({
  "Token": `TKN${id(at)}`,
  "Item Name": name,
  "Customer-facing Name": "",
  "Variation Name": "Regular",
  "SKU": id(at),
  "Description": description,
  "Categories": category,
  "Reporting Category": category,
  "GTIN": "",
  "SEO Title": "",
  "Weight (lb)": "",
  "Online Sale Price": "",
  "Archived": "N",
  "Sellable": "Y",
  "Price": dollars(price),
  "Current Quantity Main": "12",
  "Tax - Sales Tax (8%)": "Y"
}))

export const shopify = program("Shopify", ({ category, description, name, price }, at) => ({
  "Handle": handle(name),
  "Title": name,
  "Body (HTML)": html(description),
  "Vendor": "Berth Goods",
  "Product Category": "",
  "Type": category,
  "Tags": "new, local",
  "Published": "true",
  "Option1 Name": "Title",
  "Option1 Value": "Default Title",
  "Variant SKU": id(at),
  "Variant Grams": "300",
  "Variant Inventory Qty": "8",
  "Variant Price": dollars(price),
  "Variant Compare At Price": "",
  "Variant Requires Shipping": "true",
  "Image Src": `https://cdn.example.com/${handle(name)}.jpg`,
  "Gift Card": "false",
  "Cost per item": "1.00",
  "Status": "active"
}))

export const toast = program("Toast", ({ category, description, name, price }, at) => ({
  "Menu": "All day",
  "Menu Group": category,
  "Menu Item": name,
  "Item Description": description,
  "Base Price": dollars(price),
  "SKU": id(at),
  "PLU": "",
  "Tax Rate": "8.25%",
  "Visibility": "POS, online"
}))

export const woocommerce = program("WooCommerce", ({ category, description, name, price }, at) => ({
  "ID": id(at),
  "Type": "simple",
  "SKU": `sku-${at}`,
  "Name": name,
  "Published": "1",
  "Is featured?": "0",
  "Visibility in catalog": "visible",
  "Short description": "",
  "Description": html(description),
  "Tax status": "taxable",
  "In stock?": "1",
  "Stock": "",
  "Sale price": "",
  "Regular price": dollars(price),
  "Categories": category,
  "Tags": "",
  "Images": `https://shop.example.com/${at}.jpg`
}))

export const lightspeed = program("Lightspeed", ({ category, description, name, price }, at) => ({
  "id": `06f2e29c-25cb-11ee-ea12-${id(at)}`,
  "handle": handle(name),
  "sku": id(at),
  "composite_name": name,
  "name": name,
  "description": description,
  "product_category": category,
  "tags": "",
  "supply_price": "1.10",
  "retail_price": dollars(price),
  "tax_name": "Sales Tax",
  "brand_name": "",
  "supplier_name": "Acme",
  "active": "1",
  "inventory_Main_Outlet": "4"
}))

export const clover = program("Clover", ({ name, price }, at) => ({
  "Clover ID": `C${id(at)}`,
  "Name": name,
  "Alternate Name": "",
  "Price": dollars(price),
  "Price Type": "Fixed",
  "Price Unit": "",
  "Tax Rates": "DEFAULT",
  "Cost": "0.00",
  "Product Code": "",
  "SKU": id(at),
  "Modifier Groups": "",
  "Quantity": "0",
  "Hidden": "No",
  "Non-revenue item": "No"
}), ["description", "category"])

export const googleMerchant = program("Google Merchant", ({ category, description, name, price }, at) => ({
  "id": id(at),
  "title": name,
  "description": description,
  "link": `https://shop.example.com/p/${at}`,
  "image link": `https://shop.example.com/p/${at}.jpg`,
  "availability": "in_stock",
  "price": `${dollars(price)} USD`,
  "condition": "new",
  "brand": "Acme",
  "product type": category
}))

export const etsy = program("Etsy", ({ description, name, price }, at) => ({
  "TITLE": name,
  "DESCRIPTION": description,
  "PRICE": dollars(price),
  "CURRENCY_CODE": "USD",
  "QUANTITY": "3",
  "TAGS": "handmade,gift",
  "MATERIALS": "linen",
  "IMAGE1": `https://i.example.com/${at}.jpg`,
  "VARIATION 1 TYPE": "",
  "VARIATION 1 NAME": "",
  "VARIATION 1 VALUES": "",
  "SKU": id(at)
}), ["category"])

export const uberEats = program("Uber Eats", ({ category, description, name, price }, at) => ({
  "Menu Name": "All day",
  "Category Name": category,
  "Item Name": name,
  "Item Description": description,
  "Item Price": dollars(price),
  "Tax Rate": "8.25",
  "Item External ID": id(at)
}))

export const vagaro = program("Vagaro", ({ category, description, name, price }) => ({
  "Service Category": category,
  "Service Name": name,
  "Service Description": description,
  "Duration (min)": "60",
  "Price": dollars(price),
  "Cost To Business": "0",
  "Book Online": "Yes"
}))

export const wix = program("Wix", ({ category, description, name, price }, at) => ({
  "handleId": `product_${id(at)}`,
  "fieldType": "Product",
  "name": name,
  "description": html(description),
  "productImageUrl": "",
  "collection": category,
  "sku": id(at),
  "ribbon": "",
  "price": dollars(price),
  "surcharge": "",
  "visible": "true",
  "discountMode": "PERCENT",
  "discountValue": "0",
  "inventory": "InStock",
  "weight": ""
}))

export const bigCommerce = program("BigCommerce", ({ category, description, name, price }, at) => ({
  "Item Type": "Product",
  "Product ID": id(at),
  "Product Name": name,
  "Product Type": "P",
  "Product Code/SKU": id(at),
  "Brand Name": "",
  "Product Description": html(description),
  "Price": price === null ? "" : `${dollars(price)}00`,
  "Cost Price": "0.0000",
  "Retail Price": "0.0000",
  "Sale Price": "0.0000",
  "Product Weight": "1.0000",
  "Category": category,
  "Product Visible?": "Y"
}))

/** What a person types, in the words of the contract or their own. */
export const sheet = (
  headings: { readonly [Field in keyof Article]: string } = {
    name: "Name",
    description: "Description",
    price: "Price",
    category: "Category"
  },
  price: (cents: number | null) => string = dollars
): Program => ({
  program: "spreadsheet",
  lacks: [],
  header: [headings.category, headings.name, headings.description, headings.price],
  row: (article) => [article.category, article.name, article.description, price(article.price)]
})
