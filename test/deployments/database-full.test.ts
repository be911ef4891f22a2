import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

interface View {
  readonly id: string
  readonly status: string
  readonly progress: string | null
  readonly errorMessage?: string
}

describeLong("a database that is out of room while a deployment is under way", () => {
  const berth = useBerth()

  it(
    "fails the deployment whose next stage has no room in the journal at once, and says that the disk is full",
    async () => {
      const owner = await berth.signUp()
      const server = await owner.server((await owner.project()).id)
      await runSql(
        berth.databaseUrl,
        `CREATE FUNCTION out_of_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$`
      )
      await runSql(
        berth.databaseUrl,
        `CREATE TRIGGER out_of_room BEFORE INSERT ON cluster_messages FOR EACH ROW
         WHEN (NEW.tag = 'activity') EXECUTE FUNCTION out_of_room()`
      )
      const path = `/v1/servers/${server.id}/deploy`
      const { id } = dataOf(await owner.post<{ data: View }>(path, { imageUri: "oci:/none", wait: false }))
      const view = async () => dataOf(await owner.get<{ data: View }>(`/v1/servers/${server.id}/deployments/${id}`))
      await expect.poll(async () => (await view()).errorMessage, { timeout: 5_000, interval: 200 })
        .toBe("pending: The platform's disk is full; try again once its operator has made room")
      const { items } = dataOf(
        await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(`/v1/servers/${server.id}/logs`)
      )
      expect(items[0]?.message).toContain("The platform's disk is full")
      await runSql(berth.databaseUrl, "DROP TRIGGER out_of_room ON cluster_messages")
    },
    60_000
  )

  /** Nothing that a stage answers finds room, until the result is called. */
  const withoutRoomForReplies = async () => {
    await runSql(
      berth.databaseUrl,
      `CREATE OR REPLACE FUNCTION out_of_room_for_replies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$`
    )
    await runSql(
      berth.databaseUrl,
      `CREATE TRIGGER out_of_room BEFORE INSERT ON cluster_replies FOR EACH ROW EXECUTE FUNCTION out_of_room_for_replies()`
    )
    return () => runSql(berth.databaseUrl, "DROP TRIGGER out_of_room ON cluster_replies")
  }

  const begin = async () => {
    const owner = await berth.signUp()
    const path = `/v1/servers/${(await owner.server((await owner.project()).id)).id}`
    const { id } = dataOf(await owner.post<{ data: View }>(`${path}/deploy`, { imageUri: "oci:/none", wait: false }))
    return async () => dataOf(await owner.get<{ data: View }>(`${path}/deployments/${id}`))
  }

  it(
    "tells within five seconds that a stage's reply waits for room, keeps it, and goes on when there is some",
    async () => {
      const withRoom = await withoutRoomForReplies()
      const view = await begin()
      await expect.poll(view, { timeout: 5_000, interval: 200 })
        .toMatchObject({ status: "building", progress: "Waiting for room: the platform's disk is full" })
      // The engine itself tries for a second.
      await sleep(1_500)
      await withRoom()
      await expect.poll(async () => (await view()).errorMessage, { timeout: 20_000, interval: 200 })
        .toMatch(/^resolving: .*oci/)
    },
    60_000
  )

  it("fails the deployment after half a minute without room for it", async () => {
    const withRoom = await withoutRoomForReplies()
    const view = await begin()
    await expect.poll(async () => (await view()).progress, { timeout: 5_000, interval: 200 }).toMatch(
      /^Waiting for room/
    )
    berth.advance(31_000)
    berth.hurry(30_000)
    await expect.poll(view, { timeout: 5_000, interval: 200 }).toMatchObject({
      status: "failed",
      progress: null,
      errorMessage: "resolving: The platform's disk is full; try again once its operator has made room"
    })
    await withRoom()
  }, 60_000)
})
