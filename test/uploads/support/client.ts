import { createHash } from "node:crypto"
import { type Account, type Holder, type Project } from "../../support/account.ts"
import { type Answer } from "../../support/http.ts"
import { type TestImage } from "../../support/image.ts"

export const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

interface Errors {
  readonly errors: ReadonlyArray<{ readonly code: string; readonly message: string; readonly detail?: unknown }>
}

/** Status and code of a refusal. */
export const refusal = ({ body, status }: Answer) => [status, (body as Errors | undefined)?.errors[0]?.code]
export const messageOf = ({ body }: Answer) => (body as Errors).errors[0]?.message

const octets = { "content-type": "application/octet-stream" }

/** A client of the registry, in one repository. */
export class RegistryClient {
  readonly holder: Holder
  readonly name: string

  constructor(holder: Holder, name: string) {
    this.holder = holder
    this.name = name
  }

  ask = (method: string, path: string, body?: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
    this.holder.request(method, path.startsWith("/v2/") ? path : `/v2/${this.name}/${path}`, {
      headers: body === undefined ? headers : { ...octets, ...headers },
      ...(body === undefined ? {} : { body })
    })

  /** The address of a new upload. */
  begin = async () => {
    const begun = await this.ask("POST", "blobs/uploads/")
    if (begun.status !== 202) throw new Error(`expected 202, got ${begun.status}: ${begun.text}`)
    return begun.headers.get("location")!
  }

  chunk = (location: string, bytes: Uint8Array, from?: number) =>
    this.ask("PATCH", location, bytes, from === undefined ? {} : {
      "content-range": `${from}-${from + bytes.length - 1}`
    })

  end = (location: string, digest: string, bytes?: Uint8Array) =>
    this.ask("PUT", `${location}?digest=${digest}`, bytes ?? new Uint8Array())

  blob = async (bytes: Uint8Array) => this.end(await this.begin(), digestOf(bytes), bytes)

  manifest = (reference: string, bytes: Uint8Array, mediaType: string) =>
    this.ask("PUT", `manifests/${reference}`, bytes, { "content-type": mediaType })

  image = async (image: TestImage, reference: string) => {
    for (const bytes of image.blobs.values()) {
      const pushed = await this.blob(bytes)
      if (pushed.status !== 201) throw new Error(`expected 201, got ${pushed.status}: ${pushed.text}`)
    }
    return this.manifest(reference, image.manifest, image.mediaType)
  }

  has = async (digest: string) => (await this.ask("HEAD", `blobs/${digest}`)).status === 200
}

/** The account's own repository in a new project. */
export const repository = async (account: Account, name = "app", project?: Project) => {
  const own = project ?? await account.project()
  return Object.assign(new RegistryClient(account, `${own.slug}/${name}`), { project: own })
}
