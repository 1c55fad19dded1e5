package plan

func (b *builder) write() (*Plan, error) { return nil, nil }
