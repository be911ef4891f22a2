import { sessionPrefix } from "#src/accounts/Accounts.ts"
import { hashOptions } from "#src/accounts/Passwords.ts"
import { newId, newUlid } from "#src/shared/ids.ts"
import { digestOf, randomToken } from "#src/shared/tokens.ts"
import { hash } from "@node-rs/argon2"
import { randomUUID } from "node:crypto"
import { type Answer, freshAddress, type Sent } from "./http.ts"
import { runSql } from "./sql.ts"

/** A running platform, as far as its accounts need it. */
export interface Door {
  readonly databaseUrl: string
  /** Its time, in Unix milliseconds, where that is not the real one. */
  readonly now?: () => number
  readonly request: <Body = unknown>(method: string, path: string, sent?: Sent) => Promise<Answer<Body>>
}

export interface Project {
  readonly id: string
  readonly name: string
  readonly slug: string
}

export interface Server {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly slug: string
  readonly status: string
  readonly publicUrl: string
}

export interface Key {
  readonly id: string
  readonly key: string
  readonly scopes: ReadonlyArray<string>
}

export interface Listed<A> {
  readonly data: ReadonlyArray<A>
  readonly meta: { readonly cursor: string | null; readonly hasMore: boolean; readonly total: number }
}

export const allScopes = [
  "servers:read",
  "servers:write",
  "deployments:read",
  "deployments:write",
  "logs:read",
  "metrics:read",
  "billing:read"
] as const

/** The answer's `data`, when its status is the one that says it worked. */
export const dataOf = <A>({ body, status, text }: Answer<{ readonly data: A }>): A => {
  if (![200, 201, 202].includes(status)) throw new Error(`expected a success, got ${status}: ${text}`)
  return body.data
}

/** Somebody who sends requests with one credential. */
export class Holder {
  readonly berth: Door
  readonly token: string
  readonly address = freshAddress()

  constructor(berth: Door, token: string) {
    this.berth = berth
    this.token = token
  }

  request<Body = unknown>(method: string, path: string, sent: Sent = {}): Promise<Answer<Body>> {
    const headers = { "x-forwarded-for": this.address, ...sent.headers }
    return this.berth.request<Body>(method, path, { token: this.token, ...sent, headers })
  }

  get = <Body = unknown>(path: string) => this.request<Body>("GET", path)
  delete = (path: string) => this.request("DELETE", path)
  post = <Body = unknown>(path: string, body: unknown) => this.request<Body>("POST", path, { body })
  patch = <Body = unknown>(path: string, body: unknown) => this.request<Body>("PATCH", path, { body })
  put = <Body = unknown>(path: string, body: unknown) => this.request<Body>("PUT", path, { body })
}

/** A user with a session. */
export class Account extends Holder {
  readonly id: string
  readonly email: string
  readonly password: string

  constructor(berth: Door, token: string, user: { id: string; email: string; password: string }) {
    super(berth, token)
    this.id = user.id
    this.email = user.email
    this.password = user.password
  }

  project = async (name = "Acme"): Promise<Project> =>
    dataOf(await this.post<{ data: Project }>("/v1/projects", { name }))

  server = async (projectId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Server> =>
    dataOf(await this.post<{ data: Server }>(`/v1/projects/${projectId}/servers`, { name: "Menu", ...fields }))

  key = async (projectId: string, scopes: ReadonlyArray<string> = allScopes, environment = "live"): Promise<Key> =>
    dataOf(await this.post<{ data: Key }>(`/v1/projects/${projectId}/keys`, { name: "key", scopes, environment }))

  /** A key of the project, ready to send requests. */
  holder = async (projectId: string, scopes?: ReadonlyArray<string>) =>
    new Holder(this.berth, (await this.key(projectId, scopes)).key)
}

export const newEmail = () => `u-${randomUUID()}@example.com`

const password = "correct horse battery"

/** By the HTTP door, as anybody signs up. */
const signUpThere = async (berth: Door, email: string) => {
  const { token, user } = dataOf(
    await berth.request<{ data: { token: string; user: { id: string } } }>("POST", "/v1/auth/signup", {
      body: { email, password }
    })
  )
  return { id: user.id, token }
}

let hashed: Promise<string> | undefined

/**
 * The same, straight into the database: most tests need somebody who is signed up, and not the sign-up, whose hashing
 * would be a tenth of all they cost.
 */
const insertUser = async ({ databaseUrl, now = Date.now }: Door, email: string, plan: string) => {
  const id = newUlid()
  const token = sessionPrefix + randomToken()
  const passwordHash = await (hashed ??= hash(password, hashOptions))
  await runSql(
    databaseUrl,
    `WITH made AS (INSERT INTO users (id, email, password_hash, plan) VALUES ($1, $2, $3, $4) RETURNING id)
     INSERT INTO sessions (id, user_id, token_hash, expires_at) SELECT $5, id, $6, $7 FROM made`,
    [id, email, passwordHash, plan, newId("ses"), digestOf(token), new Date(now() + 30 * 24 * 60 * 60_000)]
  )
  return { id, token }
}

export const signUp = async (berth: Door, plan: string): Promise<Account> => {
  const email = newEmail()
  const { id, token } = await (berth.databaseUrl === "" ? signUpThere(berth, email) : insertUser(berth, email, plan))
  return new Account(berth, token, { id, email, password })
}
