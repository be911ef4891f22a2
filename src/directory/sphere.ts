import { type Circle } from "./DirectoryQuery.ts"

/** Mean radius of the earth (IUGG), in miles. */
const earthMiles = 3958.7613

const radians = (degrees: number) => degrees * Math.PI / 180

export interface Point {
  readonly lat: number
  readonly lng: number
}

/** Great-circle distance in miles (haversine). */
export const distanceMiles = (a: Point, b: Point) => {
  const half = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2
  const h = half(a.lat, b.lat) + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * half(a.lng, b.lng)
  return 2 * earthMiles * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The point on a unit sphere. */
export const onSphere = ({ lat, lng }: Point) => ({
  x: Math.cos(radians(lat)) * Math.cos(radians(lng)),
  y: Math.cos(radians(lat)) * Math.sin(radians(lng)),
  z: Math.sin(radians(lat))
})

/** The squared chord of two points on the unit sphere, for a distance in miles on the earth. */
export const chordSquared = (miles: number) => 4 * Math.sin(Math.min(Math.PI, miles / earthMiles) / 2) ** 2

/** Squares of a quarter degree are numbered west to east, row by row from the south pole (migration 0005). */
const perDegree = 4
const columns = 360 * perDegree
const rows = 180 * perDegree

const rowOf = (lat: number) => Math.floor((Math.min(90, Math.max(-90, lat)) + 90) * perDegree)

/** How far a circle reaches east and west of its centre, in degrees; 180 when a pole is within it or near. */
const reach = ({ lat, miles }: Circle) => {
  const angle = miles / earthMiles
  const sine = Math.sin(angle) / Math.cos(radians(lat))
  return Math.abs(lat) + angle * 180 / Math.PI >= 89.999 || sine >= 1 ? 180 : Math.asin(sine) * 180 / Math.PI
}

/** The number of the square that a point is in. */
export const cellOf = ({ lat, lng }: Point): number =>
  rowOf(lat) * columns + Math.floor((lng + 180) * perDegree) % columns

/** The numbers of the squares that together cover the circle. */
export const cellsOf = (circle: Circle): ReadonlyArray<number> => {
  const { lat, lng, miles } = circle
  // A little more than the circle, so that rounding leaves nothing out.
  const high = miles / earthMiles * 180 / Math.PI + 1e-6
  const wide = Math.min(180, reach(circle) + 1e-6)
  const west = Math.floor((lng - wide + 180) * perDegree)
  const east = Math.floor((lng + wide + 180) * perDegree)
  const spans = east - west >= columns - 1
    ? [[0, columns - 1]]
    : west < 0
    ? [[west + columns, columns - 1], [0, east]]
    : east >= columns
    ? [[west, columns - 1], [0, east - columns]]
    : [[west, east]]
  const cells: Array<number> = []
  for (let row = rowOf(lat - high); row <= Math.min(rows, rowOf(lat + high)); row++) {
    for (const [from = 0, to = 0] of spans) {
      for (let column = from; column <= to; column++) cells.push(row * columns + column)
    }
  }
  return cells
}
