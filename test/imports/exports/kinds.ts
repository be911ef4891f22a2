/** What a shop sells: prices in cents of each form, and what it paid for it. */
interface Product {
  readonly name: string
  readonly category: string
  readonly forms: ReadonlyArray<{ readonly option: string; readonly price: number }>
  readonly hidden?: true
}

export const products: ReadonlyArray<Product> = [
  { name: "Tomato soup", category: "Starters", forms: [{ option: "", price: 750 }] },
  {
    name: "Napolitana",
    category: "Pizza",
    forms: [{ option: "small", price: 900 }, { option: "medium", price: 1250 }, { option: "large", price: 1600 }]
  },
  { name: "Linen shirt", category: "Clothing", forms: [{ option: "S", price: 4800 }, { option: "XXL", price: 5400 }] },
  { name: "Not yet", category: "Clothing", forms: [{ option: "", price: 3300 }], hidden: true },
  { name: "Walnut table", category: "Furniture", forms: [{ option: "", price: 124_950 }] },
  { name: "Tea", category: "Drinks", forms: [{ option: "", price: 100 }] }
]

type Cells = Readonly<Record<string, string>>

/** How a program exports one form of a product. `price` and `cost` are written as amounts. */
interface Written extends Product {
  readonly at: number
  readonly first: boolean
  readonly option: string
  readonly price: string
  readonly cost: string
  /** What it costs more than the first form. */
  readonly surcharge: string
  /** The prices of all forms. */
  readonly prices: ReadonlyArray<string>
}

/** A kind of export: its header line, and the cells of a row that are filled in. */
export interface Kind {
  readonly title: string
  readonly header: ReadonlyArray<string>
  readonly name: string
  readonly price: string
  readonly cost?: string
  /** The cells of a row, or of several. */
  readonly row: (form: Written) => Cells | ReadonlyArray<Cells>
  /** Whether forms of a product have rows of their own; else the file has each product's first form. */
  readonly hasForms?: true
  /** Whether a product of several forms has a row beside theirs, and starts at the lowest price. */
  readonly hasParents?: true
  /** Whether the price of such a product is a list in one cell, which is none. */
  readonly hasLists?: true
  /** Whether the file can mark what is hidden. */
  readonly hides?: true
}

const handle = (name: string) => name.toLowerCase().replaceAll(" ", "-")
const split = (header: string, delimiter = ",") => header.split(delimiter)

const loyverse = (
  title: string,
  header: string,
  [name, category, option, cost, sale, price]: readonly [string, string, string, string, string, string]
): Kind => ({
  title,
  header: split(header),
  name,
  price,
  cost,
  hasForms: true,
  hides: true,
  row: (form) => ({
    Handle: handle(form.name),
    [option]: form.option,
    [cost]: form.cost,
    [sale]: form.hidden === true ? "N" : "Y",
    [price]: form.price,
    ...(form.first ? { [name]: form.name, [category]: form.category } : {})
  })
})

export const kinds: ReadonlyArray<Kind> = [
  loyverse(
    "Loyverse, English",
    "Handle,SKU,Name,Category,Description,Sold by weight,Option 1 name,Option 1 value,Option 2 name,Option 2 value,Cost," +
      "Barcode,Track stock,Available for sale [My Shop],Price [My Shop],In stock [My Shop],Tax - \"消費税\" (8%)",
    ["Name", "Category", "Option 1 value", "Cost", "Available for sale [My Shop]", "Price [My Shop]"]
  ),
  loyverse(
    "Loyverse, Spanish",
    "Handle,REF,Nombre,Categoria,Descripción,Vendido por peso,Opción 1 nombre,Opción 1 valor,Coste,Codigo de barras," +
      "Seguir el Inventario,Disponibles para la venta [My Shop],Precio [My Shop],En inventario [My Shop]",
    ["Nombre", "Categoria", "Opción 1 valor", "Coste", "Disponibles para la venta [My Shop]", "Precio [My Shop]"]
  ),
  {
    title: "Odoo, German",
    header: split("Name,Product Type,Internal Reference,Cost,Mengeneinheit,Einkauf ME,Routen,Verkaufspreis,Strichcode"),
    name: "Name",
    price: "Verkaufspreis",
    cost: "Cost",
    row: ({ at, cost, name, price }) => ({
      Name: name,
      "Product Type": "Lagerprodukt",
      "Internal Reference": `A${at}`,
      Cost: cost,
      Mengeneinheit: "Stück",
      Verkaufspreis: price
    })
  },
  {
    title: "PrestaShop",
    header: split(
      "ID;Active (0/1);Name *;Categories (x,y,z...);Price tax excluded or Price tax included;Tax rules ID;Wholesale price;" +
        "On sale (0/1);Discount amount;Discount percent;Reference #;Additional shipping cost;Unity;Unit price;Description;" +
        "Available for order (0 = No, 1 = Yes);Show price (0 = No, 1 = Yes);Out of stock",
      ";"
    ),
    name: "Name *",
    price: "Price tax excluded or Price tax included",
    cost: "Wholesale price",
    hides: true,
    row: ({ at, category, cost, hidden, name, price }) => ({
      ID: `${at}`,
      "Active (0/1)": hidden === true ? "0" : "1",
      "Name *": name,
      "Categories (x,y,z...)": `Home,${category}`,
      "Price tax excluded or Price tax included": price,
      "Tax rules ID": "1",
      "Wholesale price": cost,
      "On sale (0/1)": "0",
      "Available for order (0 = No, 1 = Yes)": "1",
      "Show price (0 = No, 1 = Yes)": "1"
    })
  },
  {
    title: "Shopify",
    header: split(
      "Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option1 Linked To," +
        "Variant SKU,Variant Grams,Variant Price,Variant Compare At Price,Variant Taxable,Unit Price Total Measure," +
        "Unit Price Base Measure,Image Src,Image Position,Gift Card,SEO Title,Cost per item,Status"
    ),
    name: "Title",
    price: "Variant Price",
    cost: "Cost per item",
    hasForms: true,
    hides: true,
    row: ({ category, cost, first, hidden, name, option, price }) => ({
      Handle: handle(name),
      "Option1 Value": option === "" ? "Default Title" : option,
      "Variant Price": price,
      "Variant Grams": "300",
      "Cost per item": cost,
      ...(first
        ? {
          Title: name,
          "Product Category": `Everything else > Goods > ${category}`,
          Published: hidden === true ? "false" : "true",
          Status: hidden === true ? "draft" : "active"
        }
        : {})
    })
  },
  {
    title: "Magento",
    header: split(
      "category,name,sku,price,qty,description,material,eco_collection,new,sale,special_price,attribute_set"
    ),
    name: "name",
    price: "price",
    row: ({ at, category, name, price }) => ({
      category: `${category}\nAll products`,
      name,
      sku: `m${at}`,
      price,
      qty: "100",
      new: "0",
      sale: "1",
      special_price: at === 0 ? "1.50" : ""
    })
  },
  {
    title: "Etsy, Italian",
    header: split(
      "TITOLO,DESCRIZIONE,PREZZO,CURRENCY_CODE,QUANTITÀ,TAG,MATERIALI,IMMAGINE1,TIPO VARIANTE 1,VALORI VARIANTE 1,SKU"
    ),
    name: "TITOLO",
    price: "PREZZO",
    row: ({ at, forms, name, price }) => ({
      TITOLO: name,
      PREZZO: price,
      CURRENCY_CODE: "USD",
      QUANTITÀ: "3",
      SKU: `e${at}`,
      "VALORI VARIANTE 1": forms.map(({ option }) => option).join(",")
    })
  },
  {
    title: "Wix",
    header: split(
      "handleId,fieldType,name,description,productImageUrl,collection,sku,ribbon,price,surcharge,visible,discountMode," +
        "discountValue,inventory,weight,cost,productOptionName1,productOptionType1,productOptionDescription1,brand"
    ),
    name: "name",
    price: "price",
    cost: "cost",
    hides: true,
    row: ({ at, category, cost, hidden, name, price }) => ({
      handleId: `product_${at}`,
      fieldType: "Product",
      name,
      collection: `All products;${category}`,
      price,
      visible: hidden === true ? "false" : "true",
      discountMode: "PERCENT",
      discountValue: "0.0",
      cost
    })
  },
  {
    title: "Wix, with variations",
    header: split(
      "handleId,fieldType,name,collection,sku,price,surcharge,visible,cost,productOptionName1,productOptionType1," +
        "productOptionDescription1"
    ),
    name: "name",
    price: "price",
    cost: "cost",
    hides: true,
    hasForms: true,
    hasParents: true,
    row: ({ at, category, cost, first, forms, hidden, name, option, price, surcharge }) => {
      const variant = {
        handleId: `product_${at}`,
        fieldType: "Variant",
        surcharge,
        visible: hidden === true ? "false" : "true",
        productOptionDescription1: option
      }
      const product = {
        ...variant,
        fieldType: "Product",
        name,
        collection: category,
        price,
        surcharge: "",
        cost,
        productOptionDescription1: forms.map(({ option }) => option).join(";")
      }
      return forms.length === 1 ? product : first ? [product, variant] : variant
    }
  },
  {
    title: "a restaurant program with several prices in a cell",
    header: split("Category,Name,Description,Price,Variants,Addons,Badge"),
    name: "Name",
    price: "Price",
    hasLists: true,
    row: ({ category, forms, name, prices }) => ({
      Category: category,
      Name: name,
      Price: prices.join(" / "),
      Variants: forms.map(({ option }) => option).join("|")
    })
  },
  {
    title: "a restaurant program with prices of variants",
    header: split("Category,Name,Description,Price,Variants,Addons,Badge"),
    name: "Name",
    price: "Price",
    hasLists: true,
    row: ({ category, forms, name, price, prices }) => ({
      Category: category,
      Name: name,
      Price: forms.length > 1 ? "0" : price,
      Variants: forms.length > 1 ? forms.map(({ option }, at) => `${option}: ${prices[at]}`).join("; ") : ""
    })
  },
  {
    title: "a menu in two languages",
    header: split("name_el,name_en,description_el,description_en,price,category,is_available,subcategory"),
    name: "name_en",
    price: "price",
    hides: true,
    row: ({ category, hidden, name, price }) => ({
      name_en: name,
      price,
      category: "Menu",
      is_available: hidden === true ? "false" : "true",
      subcategory: category
    })
  },
  {
    title: "a restaurant program",
    header: split("Category,Name,Description,Price,Variants,Addons,Badge"),
    name: "Name",
    price: "Price",
    row: ({ category, name, price }) => ({
      Category: category,
      Name: name,
      Price: price,
      Addons: "Cheese 1.50, Egg 2.00"
    })
  }
]
