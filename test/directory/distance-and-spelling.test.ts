import { fitOf, typos, wholeWords } from "#src/directory/spelling.ts"
import { cellsOf, chordSquared, distanceMiles, onSphere } from "#src/directory/sphere.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const point = FastCheck.record({
  lat: FastCheck.double({ min: -90, max: 90, noNaN: true }),
  lng: FastCheck.double({ min: -180, max: 180, noNaN: true })
})
const cell = ({ lat, lng }: { readonly lat: number; readonly lng: number }) =>
  Math.floor((lat + 90) * 4) * 1440 + Math.floor((lng + 180) * 4) % 1440

describe("a circle", () => {
  it("lies within its squares, at the poles and across the date line too", () => {
    const near = FastCheck.record({
      miles: FastCheck.double({ min: 0, max: 500, noNaN: true }),
      share: FastCheck.double({ min: 0, max: 1, noNaN: true }),
      bearing: FastCheck.double({ min: 0, max: 2 * Math.PI, noNaN: true })
    })
    FastCheck.assert(
      FastCheck.property(point, near, (centre, { bearing, miles, share }) => {
        // The place so far from the centre, in that direction.
        const [lat, lng] = [centre.lat * Math.PI / 180, centre.lng * Math.PI / 180]
        const angle = share * miles / 3958.7613
        const to = Math.asin(Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(bearing))
        const east = lng + Math.atan2(
          Math.sin(bearing) * Math.sin(angle) * Math.cos(lat),
          Math.cos(angle) - Math.sin(lat) * Math.sin(to)
        )
        const place = { lat: to * 180 / Math.PI, lng: ((east * 180 / Math.PI + 540) % 360 + 360) % 360 - 180 }
        return cellsOf({ ...centre, miles }).includes(cell(place))
      }),
      { numRuns: 500 }
    )
  })

  it("is the same by the straight distance and by the way around", () => {
    FastCheck.assert(FastCheck.property(point, point, (a, b) => {
      const [p, q] = [onSphere(a), onSphere(b)]
      const straight = (p.x - q.x) ** 2 + (p.y - q.y) ** 2 + (p.z - q.z) ** 2
      return Math.abs(straight - chordSquared(distanceMiles(a, b))) < 1e-9
    }))
    expect(distanceMiles({ lat: 40.7128, lng: -74.006 }, { lat: 34.0522, lng: -118.2437 })).toBeCloseTo(2445, -1)
  })
})

describe("a word that was asked for", () => {
  it("is found through any one typo, when it has four letters or more", () => {
    const word = FastCheck.stringMatching(/^[a-z]{4,12}$/)
    FastCheck.assert(
      FastCheck.property(word, FastCheck.nat(100), FastCheck.stringMatching(/^[a-z]$/), (word, n, letter) => {
        const at = n % word.length
        const [head, tail] = [word.slice(0, at), word.slice(at)]
        const typos = [head + letter + tail, head + tail.slice(1), head + letter + tail.slice(1)]
        for (const wrong of typos.filter(({ length }) => length >= 4)) {
          expect(fitOf(wrong, word)).toBeLessThanOrEqual(2)
        }
        expect(fitOf(head + tail.charAt(1) + tail.charAt(0) + tail.slice(2), word)).toBeLessThanOrEqual(2)
      })
    )
  })

  it("counts typos no further than it is told to", () => {
    const word = FastCheck.stringMatching(/^[abc]{0,9}$/)
    FastCheck.assert(FastCheck.property(word, word, FastCheck.nat(4), (a, b, most) => {
      const all = typos(a, b)
      expect(typos(a, b, most)).toBe(all <= most ? all : Infinity)
    }))
  })

  it("counts typos the same both ways", () => {
    const word = FastCheck.stringMatching(/^[abc]{0,6}$/)
    FastCheck.assert(FastCheck.property(word, word, (a, b) => {
      expect(typos(a, b)).toBe(typos(b, a))
      expect(typos(a, b) === 0).toBe(a === b)
    }))
  })

  it("fits exactly, as a beginning, with a typo, with two in long words, or not", () => {
    const fits = [
      ["pizza", "pizza", 0],
      ["piz", "pizza", 1],
      ["p", "pizza", 1],
      ["pziza", "pizza", 2],
      ["kfx", "kfc", undefined],
      ["resturaunt", "restaurant", 3],
      ["bank", "tank", 2],
      ["bank", "tanks", undefined]
    ] as const
    for (const [asked, word, fit] of fits) expect(fitOf(asked, word), `${asked} ${word}`).toEqual(fit)
  })

  it("takes a word of one or two letters for a beginning only at the end of a search", () => {
    const searches = [
      ["S&T Bank", ["bank", "s", "t"], ["s", "t"]],
      ["Super U", ["super", "u"], []],
      ["BI-LO", ["bi", "lo"], ["bi"]],
      ["jo p", ["jo", "p"], ["jo"]],
      ["p p", ["p"], []],
      ["U.S. Bank!", ["bank", "us"], ["us"]],
      ["Joe's é", ["e", "joes"], []],
      ["7 Eleven", ["7", "eleven"], ["7"]],
      // The end is a word that is folded in a way of its own: then all may be beginnings.
      ["b ø", ["b", "o"], []],
      // A sign is a word.
      ["北 京", ["京", "北"], []]
    ] as const
    for (const [search, asked, whole] of searches) expect([...wholeWords(search, asked)], search).toEqual(whole)
  })
})
