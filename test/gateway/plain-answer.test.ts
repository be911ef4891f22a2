import { machineAt } from "#http/gateway/machine.ts"
import { type AnswerHandler } from "#http/gateway/plain-connection.ts"
import { readPlainHead } from "#http/gateway/plain-head.ts"
import { plainRequest, plainRequestHead } from "#http/gateway/plain-request.ts"
import { Arbitrary, FastCheck, Schema } from "effect"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { type Dispatcher } from "undici"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"

const oneOf = (...values: ReadonlyArray<string>) => Schema.Literal(...values)

/** An answer of parts that are plain, strange or wrong, and where it is cut, and which byte of it is another. */
const Answer = Schema.Struct({
  start: oneOf(
    "HTTP/1.1 200 OK",
    "HTTP/1.1 404 Not Found",
    "HTTP/1.1 500 ",
    "HTTP/1.1 200",
    "HTTP/1.0 200 OK",
    "HTTP/1.1 201 Created"
  ),
  fields: Schema.Array(
    oneOf(
      "Content-Type: application/json",
      "X-Empty:",
      "X-Spaces: \t a b \t ",
      "X-Latin: \u00e9",
      "Connection: keep-alive",
      "Connection: close",
      "Connection: x-latin",
      "Keep-Alive: timeout=1",
      "Keep-Alive: timeout=0",
      " folded",
      "No colon",
      "Bad Name: 1",
      "X-Control: a\u0001b"
    )
  ).pipe(Schema.maxItems(3)),
  framing: oneOf("length", "length", "chunked", "chunked", "both", "two lengths", "short", "long", "none"),
  body: Schema.String.pipe(Schema.pattern(/^[\x20-\x7e\xa1-\xff]{0,30}$/)),
  chunk: oneOf("", ";a=b", ";a=\"b\"", " ", "x"),
  trailer: oneOf("", "", "X-Trailer: 1\r\n", "bad trailer\r\n"),
  cuts: Schema.Array(Schema.Int.pipe(Schema.between(1, 200))).pipe(Schema.maxItems(3)),
  change: Schema.Tuple(Schema.Int.pipe(Schema.between(0, 2_000)), oneOf("\r", "\n", " ", ":", "0", "x", "\u0000"))
})

const chunked = ({ body, chunk, trailer }: typeof Answer.Type) =>
  `${body === "" ? "" : `${body.length.toString(16)}${chunk}\r\n${body}\r\n`}0\r\n${trailer}\r\n`

const framed = (answer: typeof Answer.Type): readonly [fields: ReadonlyArray<string>, body: string] => {
  const { body, framing } = answer
  const length = `Content-Length: ${body.length}`
  switch (framing) {
    case "chunked":
      return [["Transfer-Encoding: chunked"], chunked(answer)]
    case "both":
      return [[length, "Transfer-Encoding: chunked"], chunked(answer)]
    case "two lengths":
      return [[length, `Content-Length: ${body.length + 1}`], body]
    case "short":
      return [[length], body.slice(1)]
    case "long":
      return [[length], `${body}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`]
    case "none":
      return [[], body]
    default:
      return [[length], body]
  }
}

const piecesOf = (answer: typeof Answer.Type) => {
  const [fields, body] = framed(answer)
  const whole = [answer.start, ...answer.fields, ...fields, "", body].join("\r\n")
  const [at, by] = answer.change
  const all = at < whole.length ? whole.slice(0, at) + by + whole.slice(at + 1) : whole
  const cuts = [0, ...answer.cuts.filter((cut) => cut < all.length).toSorted((a, b) => a - b), all.length]
  return cuts.slice(1).map((end, i) => all.slice(cuts[i], end))
}

describe("an answer that is read without undici's parser", () => {
  let pieces: ReadonlyArray<string> = []
  const server = createServer(
    { noDelay: true },
    (socket) =>
      socket.on("error", () => undefined).once("data", async () => {
        for (const piece of pieces) {
          socket.write(piece, "latin1")
          if (pieces.length > 1) await new Promise(setImmediate)
        }
        socket.end()
      })
  )
  beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"))
  afterAll(() => void server.close())

  /** Status, fields and body of a whole answer, or "broken". */
  const heard = (by: "plain" | "undici") =>
    new Promise<string>((resolve) => {
      const { port } = server.address() as AddressInfo
      const machine = machineAt({ _tag: "Tcp", host: "127.0.0.1", port })
      const connection = machine[by](true)
      let told = ""
      let body = ""
      const done = (outcome: string) => {
        connection.destroy()
        resolve(outcome)
      }
      const onHead = (status: number, fields: ReadonlyArray<string>) => {
        told = JSON.stringify([status, fields.map((part) => part.trim())])
      }
      const handler: AnswerHandler & Dispatcher.DispatchHandler = {
        onConnect: () => undefined,
        onUnsent: () => done("unsent"),
        onHeaders: (status, headers) => {
          if (status >= 200) onHead(status, headers.map((part) => part.toString("latin1")))
          return true
        },
        onPlainHead: ({ head, status }) => onHead(status, head.rawHeaders),
        onData: (data) => {
          body += data.toString("latin1")
          return true
        },
        onPiece: () => undefined,
        onComplete: () => done(`${told} ${body}`),
        onError: () => done("broken")
      }
      const [path, content] = ["/", Buffer.from("{}")]
      const options = () => ({ method: "POST", path, headers: [], body: content }) as const
      if (by === "undici") machine.undici(true).dispatch(options(), handler)
      else {machine.plain(true).send(
          { text: plainRequest(plainRequestHead(path, ["Host", "x"])!, content), options },
          handler
        )}
    })

  it(
    "is what undici's parser makes of it, whatever its bytes and wherever they are cut",
    { timeout: 30_000 },
    async () => {
      let plain = 0
      await FastCheck.assert(
        FastCheck.asyncProperty(Arbitrary.make(Answer), async (answer) => {
          pieces = piecesOf(answer)
          const [mine, theirs] = [await heard("plain"), await heard("undici")]
          if (mine !== "broken") plain++
          assert.strictEqual(mine, theirs, JSON.stringify(pieces))
        }),
        { numRuns: 400 }
      )
      assert.isAbove(plain, 50)
    }
  )

  it("has one length or one coding, and nothing that two parsers could read in two ways", () => {
    const read = (...lines: ReadonlyArray<string>) => readPlainHead(["HTTP/1.1 200 OK", ...lines].join("\r\n"))
    expect(read("Content-Length: 2")).toMatchObject({ status: 200, reason: "OK", length: 2, keptSeconds: undefined })
    expect(read("transfer-encoding: Chunked", "Connection: Close")).toMatchObject({ length: undefined, keptSeconds: 0 })
    expect(read("Content-Length: 2", "Connection: keep-alive", "Keep-Alive: timeout=5")?.keptSeconds).toBe(5)
    const doubtful = [
      [],
      ["Content-Length: 2", "Content-Length: 2"],
      ["Content-Length: 2", "Transfer-Encoding: chunked"],
      ["Content-Length: +2"],
      ["Content-Length: 2,2"],
      ["Content-Length : 2"],
      ["Transfer-Encoding: gzip, chunked"],
      ["Content-Length: 2", "Upgrade: h2c"],
      ["Content-Length: 2", "Connection: close, x"],
      ["Content-Length: 2", "X: a", " b"],
      ["Content-Length: 2", "X: a\nY: b"],
      ["Content-Length: 2", "X: a\rb"],
      ["Content-Length: 2", "X: a\u0000b"]
    ]
    for (const lines of doubtful) expect(read(...lines), JSON.stringify(lines)).toBeUndefined()
    expect(readPlainHead("HTTP/1.1 204 No\r\nContent-Length: 4")?.length).toBe(0)
    for (const start of ["HTTP/1.0 200 OK", "HTTP/1.1 101 X", "HTTP/1.1 200", "HTTP/1.1 600 X", "HTTP/2 200 OK"]) {
      expect(readPlainHead(`${start}\r\nContent-Length: 0`), start).toBeUndefined()
    }
  })
})
