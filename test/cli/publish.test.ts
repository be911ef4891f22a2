import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { describeWhen } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { berthCli, ctrlD } from "./mcp/run.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-publish-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const lossy = write("lossy.csv", "Name,Price (USD),In stock\nSoup,6.50,4\n")
const square = write("square.csv", "Token,Item Name,Variation Name,Price\nA,Soup,Regular,6.50\n")

describeWhen(missingForApps, "berth publish", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(mcpImage("streamable"))
  })
  const berth = useBerth({ machines: true, variables })
  let owner: Account
  beforeAll(async () => {
    owner = await berth.signUp("pro")
    mkdirSync(join(folder, "berth"))
    write("berth/credentials.json", JSON.stringify({ [new URL(berth.url).origin]: owner.token }))
  })

  const berthPublish = (args: ReadonlyArray<string>, keys?: string) =>
    berthCli(["publish", "--url", berth.url, ...args], { XDG_CONFIG_HOME: folder }, keys)
  const publish = (args: ReadonlyArray<string>, keys?: string) =>
    berthPublish(["--name", "Copper Ladle", ...args], keys)
  const total = async () => (await owner.get<Listed<Business>>(businesses)).body.meta.total
  const pricesOfNewest = () =>
    runSql(
      berth.databaseUrl,
      `SELECT price_cents FROM catalog_items WHERE business_id = (SELECT max(id) FROM businesses)`,
      []
    )

  it("without a terminal refuses to lose the prices, and says which option keeps them", async () => {
    const before = await total()
    const { code, err } = await publish([lossy])
    expect([code, err]).toEqual([
      1,
      "lossy.csv would publish no price, although \"Price (USD)\" looks like one: " +
      "pass --map 'Price (USD)=price', or --map 'Price (USD)=ignore' to publish without"
    ])
    expect(await total()).toBe(before)
  })

  it("tells what is wrong in its own options, not in fields of the API", async () => {
    const of = async (...args: ReadonlyArray<string>) => (await berthPublish(args)).err
    const plain = write("us.csv", "name,price\nTea,3\n")
    expect(await of(plain)).toBe("--name is required with a CSV file, which has no name of the business")
    expect(await of(plain, "--name", "A", "--mode", "add"))
      .toBe("--mode is for an existing business: give --business")
    expect(await of(plain, "--business", "01JA", "--name", "A", "--template", "restaurant")).toBe(
      "--name is for a new business: leave it out beside --business\n" +
        "--template is for a new business: leave it out beside --business"
    )
    expect(await of(plain, "--business", "01JA")).toBe("--business 01JA: There is no such business")
    expect(await of(plain, "--project", "01JA", "--name", "A")).toBe("--project 01JA: There is no such project")
    expect(await of(write("us.txt", "name\nTea\n"), "--name", "A")).toBe("The file's name must end in .json or .csv")
    expect(await of(write("dishes.csv", "Xq,Zz\n,1\n"), "--name", "A")).toBe(
      "dishes.csv has no column \"name\"; its columns are Xq, Zz. Say which column holds it, such as --map 'Dish=name'"
    )
  })

  it("says which encoding it took a file for that is not in UTF-8", async () => {
    const file = join(folder, "latin.csv")
    writeFileSync(file, Buffer.from("name,price\nCr\u00e8me br\u00fbl\u00e9e,6.50\n", "latin1"))
    const { code, err } = await publish([file, "--dry-run"])
    expect([code, err]).toEqual([0, expect.stringMatching(/^latin.csv is not in UTF-8 and was read as windows-1252/)])
  })

  it("--map says which column holds which field", async () => {
    const { code, err, out } = await publish([lossy, "--map", "Price (USD)=price"])
    expect([code, err, out]).toEqual([
      0,
      "",
      expect.stringMatching(/, 1 item\nLeft out   In stock\nImport {5}[0-9A-Z]{26}\n/)
    ])
    expect(await pricesOfNewest()).toEqual([{ price_cents: 650 }])
  })

  it("--city and --state say where it is, so that composites have it; what is wrong with them is told by option", async () => {
    const plain = write("city.csv", "name,price\nTea,3\n")
    const { code, err, out } = await publish([plain, "--template", "restaurant", "--city", "Denver", "--state", "CO"])
    expect([code, err]).toEqual([0, ""])
    const [, id = ""] = /Business {3}([0-9A-Z]{26})/.exec(out) ?? []
    const { contact, industry } = (await owner.get<{ data: Business }>(`${businesses}/${id}`)).body.data
    expect([contact.address, industry]).toMatchObject([{ city: "Denver", state: "CO" }, "restaurant"])
    expect((await publish([plain, "--city", "x".repeat(256)])).err).toMatch(/^--city must be at most 255/)
  })

  it("on a terminal shows the suggestion, and takes it when the answer is yes", async () => {
    const { code, err } = await publish([square], "y")
    expect([code, err]).toEqual([0, expect.stringMatching(/export of Square[^]*Item Name +name/)])
    expect(await pricesOfNewest()).toEqual([{ price_cents: 650 }])
  })

  it("on a terminal tells of other columns with prices before it asks", async () => {
    const { code, err } = await publish([write("rivals.csv", "name,Regular price,Sale price\nLatte,$4,$3\n")], "n")
    expect([code, err]).toEqual([1, expect.stringMatching(/Regular price +price\n[^]*column Sale price [^]*"\$3"/)])
  })

  it("on a terminal asks which of two columns is the price, and recommends none", async () => {
    const sizes = write("sizes.csv", "name,Small,Large\nLatte,$3,$4\n")
    const no = await publish([sizes], "nn")
    expect([no.code, no.err]).toEqual([1, expect.stringContaining("\"Small\" and \"Large\" may be the price")])
    expect(no.err).not.toContain("--map")
    const { code, out } = await publish([sizes], "ny")
    expect([code, out]).toEqual([0, expect.stringContaining(", 1 item")])
    expect(await pricesOfNewest()).toEqual([{ price_cents: 400 }])
  })

  it("on a terminal publishes nothing that would be refused when the answer is no", async () => {
    const before = await total()
    for (const no of ["n", ctrlD]) {
      for (const file of [lossy, square]) {
        const { code, err } = await publish([file], no)
        expect([code, err]).toEqual([1, expect.stringMatching(/[ :]--map '/)])
      }
    }
    expect(await total()).toBe(before)
  })

  it("--yes does not ask", async () => {
    const { code, err } = await publish([lossy, "--yes", "--map", "Price (USD)=ignore"], "")
    expect([code, err]).toEqual([0, ""])
    expect(await pricesOfNewest()).toEqual([{ price_cents: null }])
  })

  it("--dry-run shows what would be imported, and writes nothing", async () => {
    const before = await total()
    const right = await publish([lossy, "--dry-run", "--map", "Price (USD)=price"])
    expect([right.code, right.out]).toEqual([0, expect.stringMatching(/Price \(USD\) +price +6\.50/)])
    const long = write("long.csv", `name,price,Dish blurb\n${"Bouillabaisse ".repeat(6)},Ask the waiter,x\nTea,3,Hot\n`)
    expect((await publish([long, "--dry-run"])).out).toMatch(
      /^warnings:\n {2}row 2, "Bouillabaisse .*price "Ask the waiter" is not a price in dollars; skipped$/m
    )
    const named = write("named.csv", "name,price,Details\nTea,3,Hot and black\n")
    expect((await publish([named, "--dry-run"])).out).toContain(
      "if it holds description, pass --map 'Details=description'"
    )
    expect(await publish([lossy, "--dry-run"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("--map 'Price (USD)=price'") as string
    })
    expect(await total()).toBe(before)
  })

  it("--business replaces the catalog of a business, and --mode add keeps it", async () => {
    const plain = write("plain.csv", "name,price\nTea,3\n")
    await publish([plain])
    const [{ id }] = await runSql(berth.databaseUrl, "SELECT max(id) AS id FROM businesses", []) as [{ id: string }]
    const before = await total()
    for (const mode of [[], ["--mode", "add"]]) {
      expect(await berthPublish([plain, "--business", id, ...mode])).toMatchObject({ code: 0, err: "" })
    }
    expect(await pricesOfNewest()).toEqual([{ price_cents: 300 }, { price_cents: 300 }])
    expect(await total()).toBe(before)
    expect((await publish([plain, "--business", id])).err).toContain("--name is for a new business")
  })

  it.each([
    ["price", "--map takes COLUMN=FIELD, not \"price\""],
    ["=price", "--map takes COLUMN=FIELD, not \"=price\""],
    ["Price (USD)=prize", "--map 'Price (USD)=prize': there is no field \"prize\". Did you mean \"price\"?"],
    ["Price (USD)=cost", "variation, catalog_items; ignore leaves a column out"],
    ["Cost=price", "--map 'Cost=price' names a column that the file does not have"]
  ])("--map %s is told as a mistake", async (pair, message) => {
    expect(await publish([lossy, "--map", pair])).toMatchObject({
      code: 1,
      err: expect.stringContaining(message) as string
    })
  })
})

describe("berth publish without a log-in", () => {
  it("says to log in first", async () => {
    const { code, err } = await berthCli(["publish", lossy, "--url", "http://localhost:1"], {
      XDG_CONFIG_HOME: "/none"
    })
    expect([code, err]).toEqual([3, "Log in first: berth login --url http://localhost:1"])
  })
})

describe("the question of berth publish", () => {
  it("is answered with no by an input that has ended, and does not wait for keys", () => {
    const code = `
      import { askForMapping } from "#src/cli/publish-mapping.ts"
      import { NodeContext, NodeRuntime } from "@effect/platform-node"
      import { Console, Effect } from "effect"
      askForMapping("a.csv", { program: null, suggested: { Cost: "price" }, undecided: [], refusal: null }).pipe(
        Effect.flatMap((answer) => Console.log("answer: " + answer._tag)),
        Effect.provide(NodeContext.layer),
        NodeRuntime.runMain
      )`
    const args = ["--import", "tsx", "--input-type=module", "-e", code]
    const { status, stdout } = spawnSync(process.execPath, args, { input: "", encoding: "utf8", timeout: 20_000 })
    expect([status, stdout]).toEqual([0, expect.stringContaining("answer: None")])
  }, 30_000)
})
