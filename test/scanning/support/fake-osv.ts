import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

export interface Asked {
  readonly package: { readonly ecosystem: string; readonly name: string }
  readonly version: string
  readonly page_token?: string
}

type Advisory = { readonly id: string } & Readonly<Record<string, unknown>>

/** OSV's API in this process: what it knows is told by `has`, and a test may take over any request. */
export class FakeOsv {
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  readonly #advisories = new Map<string, Advisory>()
  readonly #found = new Map<string, Array<string>>()
  /** Every package that was asked for, in order, without the question whether it is there. */
  asked: Array<Asked> = []
  /** Ids of an answer; more are on further pages. */
  pageSize = Infinity
  intercept: (path: string, response: ServerResponse) => boolean | Promise<boolean> = () => false
  url = ""

  start = async () => {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  stop = async () => {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  /** The package of this version has the vulnerabilities. */
  has = (ecosystem: string, name: string, version: string, ...advisories: ReadonlyArray<Advisory>) => {
    this.knows(...advisories)
    const key = `${ecosystem} ${name} ${version}`
    this.#found.set(key, [...this.#found.get(key) ?? [], ...advisories.map(({ id }) => id)])
  }

  knows = (...advisories: ReadonlyArray<Advisory>) => {
    for (const advisory of advisories) this.#advisories.set(advisory.id, advisory)
  }

  #batch(body: string) {
    const { queries } = JSON.parse(body) as { queries: ReadonlyArray<Asked> }
    const results = queries.map((query) => {
      const { package: { ecosystem, name }, page_token = "0", version } = query
      if (name !== "lodash") this.asked.push(query)
      const ids = this.#found.get(`${ecosystem} ${name} ${version}`) ?? []
      const end = Number(page_token) + this.pageSize
      if (ids.length === 0) return {}
      return {
        vulns: ids.slice(Number(page_token), end).map((id) => ({ id, modified: "2026-01-01T00:00:00Z" })),
        ...(ids.length > end ? { next_page_token: String(end) } : {})
      }
    })
    return { results }
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const path = request.url ?? ""
    const body = await text(request)
    if (await this.intercept(path, response)) return
    const [, id] = /^\/v1\/vulns\/(.+)$/.exec(path) ?? []
    const answer = path === "/v1/querybatch" ? this.#batch(body) : this.#advisories.get(decodeURIComponent(id ?? ""))
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(answer ?? { code: 5, message: "Bug not found." }))
  }
}

export const vectors = {
  critical: { type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" },
  high: { type: "CVSS_V4", score: "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N" },
  medium: { type: "CVSS_V3", score: "CVSS:3.0/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:N" },
  low: { type: "CVSS_V3", score: "CVSS:3.1/AV:L/AC:H/PR:L/UI:R/S:U/C:L/I:N/A:N" },
  /** 10.0 in version 2, which has no critical. */
  old: { type: "CVSS_V2", score: "AV:N/AC:L/Au:N/C:C/I:C/A:C" }
} as const
