//! Tables as people bring them: other separators, no header, dates, money, codes, ids, nested objects, other encodings.

use lineal_data::{
    ColumnKind, Dataset, Encoding, ReadOptions, Schema, Source, Targets, read, read_with,
};

fn memory(name: &str, bytes: impl Into<Vec<u8>>) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.into() }
}

fn learn(name: &str, text: &str) -> Dataset {
    read(memory(name, text), &ReadOptions::default()).unwrap()
}

fn kind<'s>(schema: &'s Schema, name: &str) -> &'s ColumnKind {
    let columns = schema.columns.as_ref().unwrap();
    &columns.iter().find(|column| column.name == name).unwrap().kind
}

/// The values of a feature in all rows.
fn values(data: &Dataset, name: &str) -> Vec<f32> {
    let at = (0..data.schema.n_features).find(|&j| data.schema.feature_name(j) == name).unwrap();
    let mut values = vec![0.0; data.n_rows()];
    for (i, value) in values.iter_mut().enumerate() {
        data.x.row(i).for_each(|j, v| {
            if j == at {
                *value = v;
            }
        });
    }
    values
}

#[test]
fn the_separator_is_told_by_the_rows_and_a_comma_may_be_the_point() {
    let d = learn("t.csv", "price;size;y\n1,5;1.000,25;a\n2;3;b\n");
    assert_eq!(values(&d, "price"), [1.5, 2.0]);
    assert_eq!(values(&d, "size"), [1000.25, 3.0]);
    let t = read_with(memory("u.csv", "y|size|price\nb|2|1\n"), &ReadOptions::default(), &d.schema);
    assert_eq!(values(&t.unwrap(), "size"), [2.0]);
    let options = ReadOptions { delimiter: Some(b':'), ..ReadOptions::default() };
    let d = read(memory("t.csv", "a:y\n1,2:u\n3,4:v\n"), &options).unwrap();
    assert_eq!(values(&d, "a"), [1.2, 3.4]);
    let d = read(memory("t.csv", "a:y\n1,200:u\n3,400:v\n"), &options).unwrap();
    assert_eq!(values(&d, "a"), [1200.0, 3400.0]);
}

#[test]
fn a_first_row_of_data_is_read_and_a_model_remembers_it() {
    let options = ReadOptions { label: Some("3".into()), ..ReadOptions::default() };
    let d = read(memory("t.csv", "1,2,a\n4,5,b\n7,8,b\n"), &options).unwrap();
    assert_eq!((d.n_rows(), d.schema.no_header), (3, true));
    assert!(d.warnings[0].contains("options.header = true"), "{:?}", d.warnings);
    let t = read_with(memory("u.csv", "1,2,b\n"), &ReadOptions::default(), &d.schema).unwrap();
    assert_eq!(t.y, Targets::Classes(vec![1]));
    let said = ReadOptions { header: Some(true), label: Some("a".into()), ..options };
    let d = read(memory("t.csv", "1,2,a\n4,5,b\n7,8,b\n"), &said).unwrap();
    assert_eq!((d.n_rows(), d.warnings.len()), (2, 0));
}

#[test]
fn missing_numbers_have_many_names() {
    let d = learn("t.csv", "x,y\n1,a\nnan,b\nNULL,a\nNone,b\n?,a\n,b\n4,a\n");
    assert_eq!(values(&d, "x"), [1.0, 2.5, 2.5, 2.5, 2.5, 2.5, 4.0]);
    assert!(d.warnings[0].contains("5 missing numbers"), "{:?}", d.warnings);
    let error = read(memory("t.csv", "x,y\n1,a\ninf,b\n"), &ReadOptions::default()).unwrap_err();
    assert!(error.message.contains("not finite"), "{error}");
}

#[test]
fn money_and_percentages_are_numbers_and_codes_are_not() {
    let d = learn(
        "t.csv",
        "pay,share,zip,y\n\"$1,234.50\",12%,01234,a\n$3,5%,90210,b\n(4),1%,01234,a\n",
    );
    assert_eq!(values(&d, "pay"), [1234.5, 3.0, -4.0]);
    assert_eq!(values(&d, "share"), [12.0, 5.0, 1.0]);
    assert_eq!(values(&d, "zip=01234"), [1.0, 0.0, 1.0]);
}

#[test]
fn dates_become_days_years_months_and_weekdays() {
    let d = learn("t.csv", "on,y\n2024-03-31,a\n,b\n2024-04-01T12:00,a\n");
    // python: date(2024, 3, 31) - date(1970, 1, 1) = 19813 days, a Sunday
    assert_eq!(values(&d, "on.days"), [19813.0, 19813.75, 19814.5]);
    assert_eq!(values(&d, "on.year"), [2024.0; 3]);
    assert_eq!(values(&d, "on.month=3"), [1.0, 0.0, 0.0]);
    assert_eq!(values(&d, "on.weekday=Mon"), [0.0, 0.0, 1.0]);
    let d = learn("t.csv", "on,y\n31/03/2024,a\n1/4/2024,b\n");
    assert_eq!(values(&d, "on.month=4"), [0.0, 1.0]);
    assert!(d.warnings.is_empty());
    let d = learn("t.csv", "on,y\n3/4/2024,a\n1/4/2024,b\n");
    assert!(d.warnings[0].contains("month first"), "{:?}", d.warnings);
    let text = "on,y\nsoon,a\n";
    let error = read_with(memory("u.csv", text), &ReadOptions::default(), &d.schema).unwrap_err();
    assert!(error.message.contains("not a date"), "{error}");
}

#[test]
fn ids_are_left_out_with_a_word() {
    let rows =
        (0..30).map(|i| format!("{},{},{},{i},{},{}\n", i + 1, i * 7 % 30, i % 3, i % 5, i % 2));
    let text =
        format!("PassengerId,customer_id,group_id,index,paid,y\n{}", rows.collect::<String>());
    let d = learn("t.csv", &text);
    for name in ["PassengerId", "customer_id", "index"] {
        let ColumnKind::Ignored { why } = kind(&d.schema, name) else { panic!("{name} is used") };
        assert!(why.contains("identifies the row"), "{why}");
    }
    for name in ["group_id", "paid"] {
        assert!(matches!(kind(&d.schema, name), ColumnKind::Numeric { .. }), "{name}");
    }
}

#[test]
fn long_strings_are_text_even_where_they_repeat() {
    let rows = (0..120).map(|i| format!("the same {} words come again,{}\n", i % 30, i % 2));
    let text = format!("note,y\n{}", rows.collect::<String>());
    let options = ReadOptions { guess_text: true, ..ReadOptions::default() };
    let mut seen = 0;
    let mut sink = Count(&mut seen);
    let d = lineal_data::read_text(memory("t.csv", text), &options, &mut sink).unwrap();
    assert!(matches!(kind(&d.schema, "note"), ColumnKind::Text { .. }));
    assert_eq!(seen, 120);
}

struct Count<'a>(&'a mut usize);

impl lineal_data::TextSink for Count<'_> {
    fn start(&mut self, _: &Schema) -> Result<(), String> {
        Ok(())
    }
    fn batch(&mut self, batch: &lineal_data::TextBatch) -> Result<(), String> {
        *self.0 += batch.n_rows();
        Ok(())
    }
}

#[test]
fn objects_inside_objects_have_dotted_names() {
    let text = "{\"user\":{\"age\":3,\"home\":{\"city\":\"u\"}},\"y\":1}\n{\"user\":{\"age\":5},\"y\":0}\n";
    let d = learn("t.jsonl", text);
    assert_eq!(values(&d, "user.age"), [3.0, 5.0]);
    assert_eq!(values(&d, "user.home.city=u"), [1.0, 0.0]);
    let flat = "y,user.age,user.home.city\n1,4,u\n";
    let t = read_with(memory("u.csv", flat), &ReadOptions::default(), &d.schema).unwrap();
    assert_eq!(values(&t, "user.age"), [4.0]);
}

#[test]
fn other_encodings_are_read_or_named() {
    let text = "naïve,y\ncafé,a\nthé,b\n";
    let utf16: Vec<u8> =
        [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let d = read(memory("t.csv", utf16), &ReadOptions::default()).unwrap();
    assert_eq!(values(&d, "naïve=café"), [1.0, 0.0]);
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let error = read(memory("t.csv", latin.clone()), &ReadOptions::default()).unwrap_err();
    assert!(error.message.contains("options.encoding = latin1"), "{error}");
    let options =
        ReadOptions { encoding: Encoding::named("latin1").ok(), ..ReadOptions::default() };
    assert_eq!(read(memory("t.csv", latin), &options).unwrap().x, d.x);
}

#[test]
fn what_has_no_name_is_told_by_its_first_bytes() {
    for text in
        ["a,y\n1,u\n2,v\n", "a\ty\n1\tu\n2\tv\n", "{\"a\":1,\"y\":\"u\"}\n{\"a\":2,\"y\":\"v\"}\n"]
    {
        assert_eq!(values(&learn("<stdin>", text), "a"), [1.0, 2.0], "{text}");
    }
}

/// Each of them was compared with all before it, and had a warning of its own.
#[test]
fn thousands_of_columns_with_one_name() {
    let n = 20_000;
    let row = |cell: &str| vec![cell; n].join(",");
    let d = learn("t.csv", &format!("{},label\n{},x\n{},y\n", row("a"), row("1"), row("2")));
    assert_eq!(d.schema.columns.as_ref().unwrap()[n - 1].name, "a.19999");
    let told: Vec<&String> = d.warnings.iter().filter(|w| w.contains("named `a`")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("and 19,998 more columns like it"), "{}", told[0]);
}
