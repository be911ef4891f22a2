import { fitOf, plainHeader, priceKind } from "#src/imports/header-words.ts"
import { describe, expect, it } from "vitest"
import { faultOf, readFile } from "./support/read-file.ts"

const fits = (field: "category" | "description" | "name" | "price", header: string) =>
  fitOf(field, plainHeader(header)) !== undefined

describe("a header in another language", () => {
  it.each(
    `Имя Наименование 品名 メニュー 菜名 상품명 메뉴 Tên ชื่อ Όνομα Név Nazwa Navn Namn Nimi שם اسم Gericht Piatto Plat Menu Drinks
    name_el name_en title_en Nom_menu NomePiatto nombre_del_plato Nom_du_plat item_name_fr ΟΝΟΜΑ ÜRÜN_ADI`.split(/\s+/)
  )("%s is the name", (header) => {
    expect(fits("name", header)).toBe(true)
  })

  it.each("τιμή ΤΙΜΗ fiyat FİYAT ราคา Giá מחיר السعر Ár price_el preis_de Hinta".split(" "))(
    "%s is the price",
    (header) => {
      expect(fits("price", header)).toBe(true)
      expect(fits("price", header.normalize("NFD"))).toBe(true)
    }
  )

  it.each(
    [["description", "description_el"], ["description", "Περιγραφή"], ["category", "Kategoria"], [
      "category",
      "category_fr"
    ]] as const
  )("the field %s is found as %s", (field, header) => {
    expect(fits(field, header)).toBe(true)
  })

  it.each(["product id", "Item No", "menu", "AR", "price per item", "nom", "Menu Price", "name price"])(
    "%s is no price, and no compound of a name that says something else",
    (header) => {
      expect(fits("price", header)).toBe(header === "Menu Price" || header === "name price")
      expect(fits("name", header)).toBe(header === "menu" || header === "nom")
    }
  )

  it.each(["Ár (Ft)", "Fiyat (TL)", "价格(元)", "ราคา (บาท)", "Giá (đồng)", "Price ₫"])(
    "%s is no price in US dollars",
    (header) => {
      expect(fits("price", header)).toBe(false)
      expect(priceKind(plainHeader(header), [])).not.toBe("dollars")
    }
  )

  it.each([
    ["Όνομα;Τιμή\nΜουσακάς;8,50\n", { Όνομα: "name", Τιμή: "price" }],
    ["name_el,name_en,price\nΣούπα,Soup,8.50\n", { name_el: "name" }],
    ["title,title_en,price\nСуп,Soup,8.50\n", { title: "name" }]
  ])("is suggested: %j", (content, suggested) => {
    expect(faultOf("a.csv", content).choice?.suggestion.mappings).toEqual(suggested)
    expect(readFile("a.csv", content, suggested as Record<string, "name">)._tag).toBe("Right")
  })
})
