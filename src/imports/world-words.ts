import { type ItemField } from "./fields.ts"

/** What the fields are called elsewhere, the likeliest first. English and what programs write is in header-words.ts. */
export const worldWords: Readonly<Record<ItemField, ReadonlyArray<string>>> = {
  name: [
    ...["имя", "наименование", "наименование товара", "название блюда", "товар", "блюдо", "назва", "страва"],
    ...["品名", "品項", "菜名", "菜品", "商品", "产品名称", "產品名稱", "メニュー", "メニュー名", "料理名", "品目"],
    ...["상품명", "제품명", "메뉴", "메뉴명", "품명", "이름", "tên", "tên món", "tên sản phẩm", "tên hàng", "món"],
    ...["ชื่อ", "ชื่อสินค้า", "ชื่อเมนู", "เมนู", "όνομα", "ονομασία", "προϊόν", "πιάτο", "név", "megnevezés", "termék"],
    ...["termék neve", "étel", "nazwa", "nazwa produktu", "danie", "potrawa", "název", "názov", "naziv", "denumire"],
    ...["navn", "varenavn", "namn", "rätt", "nimi", "tuote", "annos", "ürün", "ürün adı", "adı", "isim", "yemek"],
    ...["שם", "שם המוצר", "מוצר", "שם המנה", "מנה", "اسم", "الاسم", "اسم المنتج", "المنتج", "الطبق", "nama", "नाम"],
    ...["gericht", "speise", "piatto", "prodotto", "plat", "plato", "platillo", "prato", "produto", "gerecht"],
    ...["menu", "menú", "drinks", "drink", "food"]
  ],
  description: [
    ...["опис", "описание товара", "opis", "popis", "beskrivning", "beskrivelse", "kuvaus", "leírás", "açıklama"],
    ...[
      "περιγραφή",
      "תיאור",
      "الوصف",
      "وصف",
      "설명",
      "상품설명",
      "mô tả",
      "คำอธิบาย",
      "รายละเอียด",
      "descriere",
      "商品描述"
    ]
  ],
  price: [
    ...["τιμή", "fiyat", "fiyatı", "birim fiyat", "satış fiyatı", "ราคา", "giá", "giá bán", "đơn giá", "מחיר", "السعر"],
    ...["سعر", "ár", "eladási ár", "bruttó ár", "egységár", "hinta", "preț", "стоимость", "ціна", "вартість", "cijena"],
    ...["kaina", "hind", "harga", "値段", "単価", "单价", "售价", "單價", "售價", "價格", "판매가", "가격 원", "pvp"],
    ...["precio de venta", "prix de vente", "prezzo di vendita", "preço de venda", "cena brutto", "verkoopprijs"]
  ],
  price_type: [],
  item_type: [],
  category: [
    ...["kategoria", "kategória", "kategori", "kategorija", "osasto", "ryhmä", "κατηγορία", "קטגוריה", "الفئة", "فئة"],
    ...[
      "카테고리",
      "분류",
      "分類",
      "类别",
      "類別",
      "种类",
      "danh mục",
      "nhóm",
      "หมวดหมู่",
      "ประเภท",
      "категорія",
      "раздел"
    ],
    ...["warengruppe", "rubrique", "sección", "seccion", "sezione", "seção"]
  ]
}

/** Capitals and files of other systems have other accents: `FİYAT`, `ΤΙΜΗ`. Short words would become others without. */
export const withoutAccents = (plain: string) => {
  const text = plain.normalize("NFC")
  return text.length < 4
    ? text
    : text.normalize("NFKD").replace(/\p{Mn}/gu, "").replaceAll("ı", "i").replaceAll("ς", "σ")
}

/** Languages as headers name them: `name_el`, `title en`. Not those that mean something else: id, no, is, it, in, to. */
const languages = new Set([
  ...["en", "el", "gr", "de", "fr", "es", "pt", "nl", "pl", "cs", "hu", "ro", "ru", "uk", "tr", "ar", "he", "ja", "jp"],
  ...["zh", "cn", "ko", "kr", "vi", "th", "sv", "da", "fi", "bg", "hr", "sr", "sk", "sl", "ca", "ita", "eng"]
])

/** `description_el`, `en title`: the field, without its language. */
export const withoutLanguage = (plain: string) => {
  const words = plain.split(" ")
  if (words.length > 1 && languages.has(words.at(-1) ?? "")) return words.slice(0, -1).join(" ")
  return words.length > 1 && languages.has(words[0] ?? "") ? words.slice(1).join(" ") : plain
}

const nameWords = new Set([
  ...["name", "title", "nom", "nome", "nombre", "titel", "titre", "titolo", "título", "naam", "nazwa", "название"],
  ...["наименование", "tên", "όνομα", "navn", "namn", "nimi", "naziv", "název", "имя"]
])
const thingWords = new Set([
  ...[
    "menu",
    "dish",
    "item",
    "product",
    "service",
    "treatment",
    "food",
    "drink",
    "article",
    "plat",
    "produit",
    "piatto"
  ],
  ...["prodotto", "articolo", "plato", "producto", "artículo", "platillo", "prato", "produto", "artikel", "produkt"],
  ...["gericht", "speise", "gerecht", "produktu", "dania", "товара", "блюда", "продукта", "услуги", "món", "πιάτου"]
])
const between = new Set(["de", "del", "du", "do", "da", "des", "di", "la", "le", "el", "il", "of", "the"])

/** `Nom_menu`, `NomePiatto`, `nombre del plato`: words for a name and for what has it, and nothing else. */
export const isNameCompound = (plain: string) => {
  const words = plain.split(" ").filter((word) => !between.has(word))
  return words.some((word) => nameWords.has(word)) && words.some((word) => thingWords.has(word)) &&
    words.every((word) => nameWords.has(word) || thingWords.has(word))
}
