import { newSalt, successorOf } from "#src/oauth/refresh-token.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { full } from "../support/needs.ts"
import { type Flow, newFlow, type OAuthErrorBody, type TokenBody } from "../support/oauth.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

const refresh = async (refreshToken: string) => {
  const { body, status } = await flow.refresh<TokenBody & Partial<OAuthErrorBody>>(refreshToken)
  expect(body.error, JSON.stringify(body)).toBe(status === 200 ? undefined : "invalid_grant")
  return body.error === undefined ? { token: body.refresh_token!, accessToken: body.access_token } : undefined
}

const rotate = async (refreshToken: string) => {
  const next = await refresh(refreshToken)
  if (next === undefined) throw new Error("expected a successor")
  return next
}

/** The first two refresh tokens of a fresh authorization; the second has not been used. */
const pair = async () => {
  const { refresh_token: first = "" } = await flow.tokens()
  return { first, second: (await rotate(first)).token }
}

/** Nothing of the family is good any more. */
const expectDead = async (accessTokens: ReadonlyArray<string>, refreshTokens: ReadonlyArray<string>) => {
  for (const token of accessTokens) expect((await flow.introspect(token)).body).toEqual({ active: false })
  for (const token of refreshTokens) expect(await refresh(token)).toBeUndefined()
}

/** The races are run more often where there is time for it. */
const thorough = full ? 4 : 1

const times = <A>(count: number, ask: () => Promise<A>) => Array.from({ length: count }, ask)

describe("a refresh token that comes again within the minute", () => {
  it("gives its successor as long as that was not used, to however many ask", async () => {
    const { first, second } = await pair()
    const answers = await Promise.all(times(8, () => refresh(first)))
    expect(new Set(answers.map((answer) => answer?.token))).toEqual(new Set([second]))
    expect((await rotate(second)).token).not.toBe(first)
  })

  it("is stolen once its successor was used: everything of the family ends", async () => {
    const { first, second } = await pair()
    const third = await rotate(second)
    expect((await flow.introspect(third.accessToken)).body).toMatchObject({ active: true })
    expect(await refresh(first)).toBeUndefined()
    await expectDead([third.accessToken], [third.token, second, first])
  })

  it("is stolen when it is older than that, too, and the last two are still within their grace", async () => {
    const { first, second } = await pair()
    const third = await rotate(second)
    const fourth = await rotate(third.token)
    expect((await rotate(third.token)).token).toBe(fourth.token)
    expect(await refresh(first)).toBeUndefined()
    await expectDead([third.accessToken, fourth.accessToken], [fourth.token])
  })

  it("leaves another authorization of the same user and client alone", async () => {
    const other = await pair()
    const { first, second } = await pair()
    await rotate(second)
    expect(await refresh(first)).toBeUndefined()
    expect(await refresh(other.second)).toBeDefined()
  })

  it("while its successor is used at the same moment: either it came before, or the family ends", async () => {
    for (let round = 0; round < 6 * thorough; round++) {
      const { first, second } = await pair()
      const asked = Promise.all([
        ...times(round % 3 + 1, async () => ({ of: first, next: await refresh(first) })),
        ...times(round % 2 + 1, async () => ({ of: second, next: await refresh(second) })),
        ...times(round % 4, async () => ({ of: first, next: await refresh(first) }))
      ])
      const answers = await asked
      const given = (of: string) => answers.flatMap((answer) => answer.of === of && answer.next ? [answer.next] : [])
      const refusedFirst = answers.some(({ next, of }) => of === first && next === undefined)
      const refusedSecond = answers.some(({ next, of }) => of === second && next === undefined)
      for (const { token } of given(first)) expect(token).toBe(second)
      const thirds = new Set(given(second).map(({ token }) => token))
      expect(thirds.size, "one successor").toBeLessThanOrEqual(1)
      // Nobody who comes with the newest is taken for a thief; only a replay that came too late ends it.
      if (refusedSecond) expect(refusedFirst).toBe(true)
      // By now the successor was used, whatever came first.
      expect(await refresh(first)).toBeUndefined()
      await expectDead(answers.flatMap(({ next }) => next?.accessToken ?? []), [...thirds])
    }
  })

  it("is never answered once the use of its successor was", async () => {
    for (let round = 0; round < 3 * thorough; round++) {
      const { refresh_token: first = "" } = await flow.tokens()
      let used = false
      const late: Array<unknown> = []
      const replays = times(4, async () => {
        for (;;) {
          const began = used
          const next = await refresh(first)
          if (began) late.push(next)
          if (began || next === undefined) return
        }
      })
      const second = await rotate(first)
      const third = await refresh(second.token)
      used = true
      await Promise.all(replays)
      expect(late.filter((next) => next !== undefined)).toEqual([])
      await expectDead([second.accessToken, ...third === undefined ? [] : [third.accessToken]], [first])
    }
  })

  it("looks again when it comes too late to be rotated: by then the successor may be used", async () => {
    const { refresh_token: first = "" } = await flow.tokens()
    const [salt, nextSalt] = [newSalt(), newSalt()]
    const second = successorOf(first, salt)
    const third = successorOf(second, nextSalt)
    // Another process rotates twice, in a transaction that has not ended when the request looks first.
    const commit = await holdLock(
      berth.databaseUrl,
      `WITH used AS (
         UPDATE refresh_tokens SET rotated_at = now(), successor_salt = $2::bytea WHERE token_hash = $1 RETURNING *
       )
       INSERT INTO refresh_tokens (token_hash, family_id, client_id, resource, scopes, generation, expires_at,
         rotated_at, successor_salt)
       SELECT $3::bytea, family_id, client_id, resource, scopes, 1, expires_at, now(), $4::bytea FROM used
       UNION ALL SELECT $5::bytea, family_id, client_id, resource, scopes, 2, expires_at, NULL::timestamptz, NULL::bytea FROM used`,
      [digestOf(first), salt, digestOf(second), nextSalt, digestOf(third)]
    )
    const replay = refresh(first)
    await vi.waitFor(async () => {
      const waiting = await runSql(
        berth.databaseUrl,
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      )
      expect(waiting).toHaveLength(1)
    }, 5_000)
    await commit()
    expect(await replay).toBeUndefined()
    await expectDead([], [third, second])
  })
})
