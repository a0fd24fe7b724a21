/**
 * The result of `make` for a value, computed once for each object: for values that never change. Weak, so that the
 * result is collected with its value.
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
