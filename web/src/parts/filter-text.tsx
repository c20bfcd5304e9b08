import IconSearch from 'icon:search';
import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

interface FilterTextProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange(value: string): void;
}

const DEBOUNCE_MS = 250;

/** A text field that applies its filter after a pause in typing. */
export function FilterText({
  label,
  value = '',
  onChange,
  ...others
}: FilterTextProps & Record<string, unknown>) {
  const [text, setText] = useState(value);
  /** Values that were sent and have not come back in `value` yet: they are older than the typed text. */
  const sent = useRef<string[]>([]);
  const send = (filter: string) => {
    sent.current.push(filter);
    onChange(filter);
  };
  const sendLater = useDebouncedCallback(send, DEBOUNCE_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the value alone resets the text.
  useEffect(() => {
    const index = sent.current.indexOf(value);
    sent.current = index < 0 ? [] : sent.current.slice(index + 1);
    if (index >= 0) return;
    sendLater.cancel();
    setText(value);
  }, [value]);
  const clear = () => {
    sendLater.cancel();
    setText('');
    send('');
  };
  return (
    <TextInput
      label={label}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        sendLater(event.currentTarget.value);
      }}
      rightSection={
        text ? <CloseButton size="sm" onClick={clear} aria-label={`Clear ${label.toLowerCase()}`} /> : null
      }
      autoComplete="off"
      spellCheck={false}
      {...others}
    />
  );
}

/** The search box of a page, which the shortcut `/` focuses. */
export function SearchBox(props: FilterTextProps) {
  return <FilterText {...props} data-page-search leftSection={<IconSearch size={16} />} flex="1 1 220px" />;
}
