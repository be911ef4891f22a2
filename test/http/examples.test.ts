import { examples } from "#http/api/examples/index.ts"
import { failureCodes } from "#src/shared/Failure.ts"
import { Ajv2020 } from "ajv/dist/2020.js"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { withIds } from "../support/bodies.ts"
import { fitsOf } from "../support/fits.ts"
import { multipart } from "../support/imports.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { fill, type OpenApi, openApi, type Operation, operationsOf, resolve } from "../support/operations.ts"
import { things } from "../support/things.ts"

const berth = useBerth()
let document: OpenApi
let owner: Account

beforeAll(async () => {
  document = await openApi(berth)
  owner = await berth.signUp("enterprise")
})

const described = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`
    }))
  )

/** What ends something comes last, and the session at the very end. */
const rank = ({ method, name }: Operation) => name.endsWith("/logout") ? 2 : method === "DELETE" ? 1 : 0

describe("the examples of /openapi.json", () => {
  it("are there for each body and each success of each operation, and fit their schemas", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
    for (const { name, requestBody, responses } of described()) {
      const successes = Object.entries(responses).filter(([status]) => Number(status) < 300)
      const shown = [["body", requestBody] as const, ...successes].flatMap(([where, part]) =>
        Object.entries(part === undefined ? {} : resolve(document, part)?.content ?? {}).map(([type, content]) => ({
          where: `${name}: ${where} ${type}`,
          ...content
        }))
      )
      for (const { example, schema, where } of shown) {
        expect([where, example === undefined]).toEqual([where, false])
        const validate = ajv.compile({ ...schema, components: document.components })
        expect([where, validate(example), validate.errors]).toEqual([where, true, null])
      }
    }
  })

  it("have the query without which an operation is of no use, and so has its command on /docs", async () => {
    const command = (await berth.request("GET", "/docs")).text
    expect(command).toContain("/.well-known/mcp-server-metadata?subdomain=menu")
    for (const { name, operationId, parameters = [] } of described()) {
      const shown = parameters.flatMap(({ example, in: where, name }) =>
        where !== "query" || example === undefined ? [] : [[name, example]]
      )
      expect([name, Object.fromEntries(shown)]).toEqual([name, examples[operationId]?.query ?? {}])
    }
  })

  it("are there for each parameter of a path and each failure, whose code is one of its status, spelled as below that path", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
    for (const { name, parameters = [], responses } of described()) {
      for (const { example, in: where, name: parameter, schema } of parameters.filter((one) => one.in === "path")) {
        expect([name, where, parameter, ajv.validate({ ...schema, components: document.components }, example)])
          .toEqual([name, "path", parameter, true])
      }
      const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400)
      expect(failures.length, name).toBeGreaterThan(0)
      const lower = /^\w+ \/(api\/v1|v1\/(hub|directory)|\.well-known\/mcp-)/.test(name)
      for (const [status, response] of failures) {
        const { example } = Object.values(resolve(document, response)?.content ?? {})[0] ?? { example: undefined }
        // A report, and no failure.
        if (name === "GET /v1/health" && status === "503") continue
        const codes: ReadonlyArray<string> = failureCodes[Number(status) as keyof typeof failureCodes]
        const spelling = new RegExp(`^(${(lower ? codes.map((code) => code.toLowerCase()) : codes).join("|")})$`)
        expect(example, `${name} ${status}`).toEqual({
          error: expect.objectContaining({ code: expect.stringMatching(spelling), message: expect.any(String) })
        })
      }
    }
  })

  it("are of operations that there are", () => {
    expect(Object.keys(examples).sort()).toEqual(described().map(({ operationId }) => operationId).sort())
  })

  it(
    "are taken as they stand, for every operation: none is refused for its form, each answer fits its schema",
    async () => {
      const ids = { ...await things(owner), version: "latest" }
      const answered: Record<string, number> = {}
      const fits = fitsOf(document)
      for (const operation of operationsOf(document).toSorted((one, other) => rank(one) - rank(other))) {
        const { name, operationId } = operation
        const { file, mappings, ...body } = examples[operationId]?.body ?? {}
        const sent = examples[operationId]?.body === undefined ? {} : typeof file === "string"
          ? multipart([{ filename: operationId === "imports.preview" ? "menu.csv" : "SKILL.md", content: file }, {
            name: "mappings",
            content: JSON.stringify(mappings)
          }].slice(0, mappings === undefined ? 1 : 2))
          // What goes on afterwards, a deployment for one, is not waited for.
          : {
            body: { ...withIds(body, ids), ...(operationId === "publishing.publish" ? { dryRun: true } : {}) },
            headers: { prefer: "respond-async" }
          }
        const answer = await owner.request(operation.method, fill(operation, ids), sent)
        expect(answer.status < 500 || answer.status === 503, `${name}: ${answer.text}`).toBe(true)
        fits(operation, answer)
        answered[operationId] = answer.status
      }
      // What nobody can send as it stands: a client that does not exist, a code that nobody was sent, a query left out.
      const { "clients.register": client, "directory.serverMetadata": query, "verification.confirm": code, ...others } =
        answered
      expect([client, code, query]).toEqual([422, 422, 400])
      expect(Object.entries(others).filter(([, status]) => status === 400 || status === 422)).toEqual([])
      expect(Object.values(others).filter((status) => status < 300).length).toBeGreaterThan(60)
    },
    120_000
  )
})

describeWhen(missingProgram("curl") ?? missingProgram("jq"), "the introduction of /openapi.json", () => {
  it("has commands that lead from nothing to an answer with a key", async () => {
    const [, commands = ""] = /```sh\n([^]*?)```/.exec(document.info.description) ?? []
    const run = commands.replace(/^BERTH=.*$/m, `BERTH=${berth.url}`)
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", run])
    expect(JSON.parse(stdout)).toEqual({ data: [], meta: { cursor: null, hasMore: false, total: 0 } })
  })
})
