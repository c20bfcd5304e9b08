import { type ChangeEvent, useState } from 'react';

/**
 * The values of the inputs of a form.
 * @param onChange is called whenever an input changes
 */
export function useFields<Values extends object>(initial: Values, onChange?: () => void) {
  const [values, setValues] = useState(initial);
  const set = (change: Partial<Values>) => {
    onChange?.();
    setValues((previous) => ({ ...previous, ...change }));
  };
  return {
    values,
    set,
    reset: () => setValues(initial),
    /** Returns the props of an input of text. */
    text: <Name extends keyof Values>(name: Name) => ({
      value: values[name] as string & Values[Name],
      onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) =>
        set({ [name]: currentTarget.value } as Partial<Values>),
    }),
    /** Returns the props of a select or of another input that reports its value. */
    choice: <Name extends keyof Values>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name] | null) => set({ [name]: value } as Partial<Values>),
    }),
  };
}

export type Fields<Values extends object> = ReturnType<typeof useFields<Values>>;
