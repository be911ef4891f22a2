import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { importOf, multipart } from "../support/imports.ts"

const berth = useBerth()
let owner: Account
let path: string
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  path = importOf((await newBusiness(owner)).id)
})

const megabyte = 1024 * 1024

/** Sends a file piece by piece, without saying how long it is. */
const sendInPieces = async (bytes: number) => {
  const { body, headers } = multipart([{
    filename: "menu.csv",
    content: `name\n${"Soup of the day\n".repeat(bytes / 16)}`
  }])
  const pieces = function*() {
    for (let at = 0; at < body.length; at += megabyte / 2) yield body.subarray(at, at + megabyte / 2)
  }
  const init = {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${owner.token}` },
    body: ReadableStream.from(pieces()),
    duplex: "half"
  }
  const answer = await fetch(berth.url + path, init as RequestInit)
  return { status: answer.status, body: await answer.json() }
}

describe("a file that is sent in pieces, of no length said", () => {
  it("is taken within 10 MB", async () => {
    expect(await sendInPieces(megabyte)).toMatchObject({ status: 200, body: { data: { record_count: 1000 } } })
  })

  it.each([10 * megabyte, 14 * megabyte])("is 413 beyond, and the sender hears it: %i bytes", async (bytes) => {
    // The header row makes it more than ten megabytes.
    expect(await sendInPieces(bytes)).toMatchObject({ status: 413, body: { error: { code: "file_too_large" } } })
  })
})
