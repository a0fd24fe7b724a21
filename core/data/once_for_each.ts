/**
 * What `make` makes of a value, made once for each object: for values that are never changed. Weak, so that what was made goes
 * with its value.
 */
export const onceForEach = <A extends object, B extends object>(make: (value: A) => B): (value: A) => B => {
  const all = new WeakMap<A, B>();
  return (value) => {
    const known = all.get(value);
    if (known !== undefined) return known;
    const made = make(value);
    all.set(value, made);
    return made;
  };
};
