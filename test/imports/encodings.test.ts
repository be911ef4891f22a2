import { type Reading } from "#src/imports/plan.ts"
import { describe, expect, it } from "@effect/vitest"
import { encoder } from "./support/encoder.ts"
import { messagesOf, namesOf, readCsv } from "./support/read-file.ts"

const menus = {
  german: ["Käsespätzle", "Gemüsesuppe", "Apfelstrudel mit Vanillesoße"],
  french: ["Crème brûlée", "Œufs à la coque", "Thé glacé à la pêche"],
  spanish: ["Jalapeño", "Piña colada", "Café con leche"],
  polish: ["Żurek z kiełbasą", "Gołąbki", "Sałatka jarzynowa"],
  russian: ["Борщ", "Пельмени", "Блины с икрой"],
  greek: ["Μουσακάς", "Σουβλάκι", "Χωριάτικη σαλάτα"],
  japanese: ["ラーメン", "餃子", "本日の握り寿司"],
  chinese: ["宫保鸡丁", "麻婆豆腐", "北京烤鸭"],
  taiwanese: ["牛肉麵", "小籠包", "珍珠奶茶"],
  korean: ["비빔밥", "김치찌개", "불고기"]
} as const

const fileOf = (names: ReadonlyArray<string>) =>
  `name,description,price\nSoup,Warm and good,4.00\n${names.map((name) => `${name},Fresh today,5.00\n`).join("")}`

describe("a file that is not Unicode", () => {
  it.each<[Reading["encoding"], keyof typeof menus]>([
    ["windows-1252", "german"],
    ["windows-1252", "french"],
    ["windows-1252", "spanish"],
    ["macintosh", "german"],
    ["macintosh", "french"],
    ["macintosh", "spanish"],
    ["windows-1250", "polish"],
    ["iso-8859-2", "polish"],
    ["windows-1251", "russian"],
    ["koi8-r", "russian"],
    ["x-mac-cyrillic", "russian"],
    ["windows-1253", "greek"],
    ["shift_jis", "japanese"],
    ["euc-jp", "japanese"],
    ["gb18030", "chinese"],
    ["big5", "taiwanese"],
    ["euc-kr", "korean"]
  ])("but %s is read in it, %s, with a warning that shows where to look", (encoding, language) => {
    const names = menus[language]
    const reading = readCsv(encoder(encoding)(fileOf(names)))
    expect(namesOf(reading)).toEqual(["Soup", ...names])
    expect(messagesOf(reading)).toEqual([
      `file is not in UTF-8 and was read as ${reading.encoding}; check "${names[0]}" in row 3`
    ])
  })

  it.each<[Reading["encoding"], ReadonlyArray<string>]>([
    ["windows-1252", ["Café"]],
    ["windows-1252", ["Joe’s pie"]],
    ["windows-1252", ["Jalapeño"]],
    ["windows-1252", ["The “best” burger", "Fish – daily"]],
    ["windows-1252", ["Today’s soup", "Café au lait"]],
    ["macintosh", ["Café"]],
    ["macintosh", ["Joe’s pie"]],
    ["macintosh", ["Piña colada"]],
    ["macintosh", ["The “best” burger"]],
    ["macintosh", ["Today’s soup", "Café au lait"]],
    ["shift_jis", ["ラーメン"]],
    ["windows-1251", ["Борщ"]],
    ["euc-kr", ["비빔밥"]]
  ])("but %s is read in it when only %j shows it", (encoding, names) => {
    const reading = readCsv(encoder(encoding)(fileOf(names)))
    expect([reading.encoding, namesOf(reading)]).toEqual([encoding, ["Soup", ...names]])
  })

  it.each<[Reading["encoding"], ReadonlyArray<string>]>([
    ["windows-1251", ["БОРЩ УКРАИНСКИЙ", "СУПЫ"]],
    ["windows-1251", ["ПЕЛЬМЕНИ", "БЛИНЫ С ИКРОЙ", "КВАС"]],
    ["koi8-r", ["БОРЩ УКРАИНСКИЙ", "СУПЫ"]],
    ["koi8-r", ["борщ украинский", "супы"]],
    ["x-mac-cyrillic", ["БОРЩ УКРАИНСКИЙ", "СУПЫ"]],
    ["windows-1253", ["ΜΟΥΣΑΚΑΣ", "ΣΟΥΒΛΑΚΙ"]],
    ["windows-1252", ["CRÈME BRÛLÉE", "ŒUFS À LA COQUE"]],
    ["windows-1252", ["CAFÉ"]]
  ])("but %s is read in it where the words have one case, %j", (encoding, names) => {
    const rows = Array.from({ length: 5 }, () => names).flat()
    for (const file of [names, rows]) {
      const reading = readCsv(encoder(encoding)(fileOf(file)))
      expect([reading.encoding, namesOf(reading)]).toEqual([encoding, ["Soup", ...file]])
    }
  })

  it("is told of where no cell that is imported shows it", () => {
    const reading = readCsv(Buffer.concat([Buffer.from("name,pr"), Buffer.of(0xe9), Buffer.from("\nSoup,1\n")]))
    expect(reading.warnings).toMatchObject([{ type: "value_coerced", context: "file" }])
  })
})

describe("a file whose few bytes would be letters elsewhere", () => {
  it.each<[Reading["encoding"], ReadonlyArray<string>]>([
    ["windows-1252", ["Brunch,Sat–Sun 10–14"]],
    ["windows-1252", ["Open 9–5,1"]],
    ["windows-1252", ["Menu à 5 €,5"]],
    ["windows-1252", ["Tarte à la crème,5", "Œufs à la coque,3"]],
    ["windows-1254", ["İskender,5", "Yoğurtlu,6"]],
    ["windows-1254", ["Kuşbaşı pide,5", "Lahmacun,2"]],
    ["windows-1254", ["KIYMALI PİDE,5", "ŞALGAM,2"]],
    ["windows-1252", ["Þorskur með kartöflum,5", "Súpa,3"]],
    ["macintosh", ["Sat–Sun brunch,1", "Piña colada,2"]],
    ["windows-1251", ["Щи,5", "Уха,6"]]
  ])("is read in %s: %j", (encoding, rows) => {
    const reading = readCsv(encoder(encoding)(`name,price\n${rows.join("\n")}\n`))
    expect(reading.encoding).toBe(encoding)
    expect(namesOf(reading)).toEqual(rows.map((row) => row.split(",")[0]))
  })
})

describe("a file in UTF-8 with bytes that are not", () => {
  const cream = Array.from({ length: 50 }, (_, at) => `Crème brûlée ${at},7.50`).join("\n")

  it("loses these characters and no others, and says in which rows", () => {
    const reading = readCsv(Buffer.concat([
      Buffer.from(`name,price\n${cream}\nJalape`),
      Buffer.of(0xf1),
      Buffer.from("o poppers,6\n")
    ]))
    expect(reading.encoding).toBe("utf-8")
    expect(namesOf(reading)).toEqual([
      ...Array.from({ length: 50 }, (_, at) => `Crème brûlée ${at}`),
      "Jalape�o poppers"
    ])
    expect(messagesOf(reading)).toEqual([
      "row 52: name \"Jalape�o poppers\" has characters that can't be read; each shows as �"
    ])
  })

  it("keeps its characters where the file is cut in pieces", () => {
    const text = `name,price\nA${"é".repeat(100_000)},1\nB,2\n`
    const reading = readCsv(Buffer.concat([Buffer.from(text), Buffer.of(0xff)]))
    expect(reading.encoding).toBe("utf-8")
  })
})
